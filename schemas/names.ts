/** Names that people and orchestrators choose: tenant, pair, ticket (DESIGN section 2). */
import { portcullisError } from './errors.ts';

/** One to 64 characters, no slash and no colon: they separate the parts of ids and keys. */
export const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A git commit: 40 hex digits (SHA-1) or 64 (SHA-256). */
export const COMMIT_PATTERN = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The name itself when it is one. @throws `schema_invalid` */
export function checkedName(what: string, text: string): string {
  if (!NAME_PATTERN.test(text)) {
    throw portcullisError('schema_invalid', { path: what, reason: `must match ${NAME_PATTERN.source}` });
  }
  return text;
}

/** The roles a credential or a workspace can have. */
export const ROLES = ['forge', 'sentinel', 'verifier', 'vessel', 'lore', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/** Roles whose workspace runs an executor (spec/workspaces.md section 2). */
export const EXECUTOR_ROLES = ['forge', 'verifier'] as const satisfies readonly Role[];
export type ExecutorRole = (typeof EXECUTOR_ROLES)[number];

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

export function isExecutorRole(text: string): text is ExecutorRole {
  return (EXECUTOR_ROLES as readonly string[]).includes(text);
}
