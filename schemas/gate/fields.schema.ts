/** Fields that the gate's schemas share, and the one way to read with a schema. */
import { z } from 'zod';
import { parseDigest, type ContentDigest, type DigestKind } from '../digest.ts';
import { portcullisError } from '../errors.ts';
import { NAME_PATTERN } from '../names.ts';
import { METHODS } from './vocabulary.ts';

/** Longest list of a record from outside. Canonical bytes allow more; no contract needs it. */
export const LIST_LIMIT = 256;

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const ID = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$/;
const CODE = /^[a-z0-9]+(?:_[a-z0-9]+){0,15}$/;

/** Tenant, ticket, execution. */
export const name = z.string().regex(NAME_PATTERN);
/** Ids that we make, or that name something of a repository. ASCII, so that no two of them look alike. */
export const id = z.string().regex(ID);
export const code = z.string().max(64).regex(CODE);
/** Counts from 1. */
export const revision = z.int().min(1).max(Number.MAX_SAFE_INTEGER);
/** Counts from 0. */
export const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
/** Milliseconds since the epoch. */
export const time = z.int().min(0).max(8_640_000_000_000_000);
/** Words for people. Data: nothing reads them. */
export const prose = z
  .string()
  .max(4000)
  .refine((text) => text.isWellFormed(), 'contains a lone surrogate');
export const path = z
  .string()
  .min(1)
  .max(1024)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'is not a path');

/** The digest of a record of this kind. */
export const digest = <K extends DigestKind>(kind: K) =>
  z
    .string()
    .regex(DIGEST)
    .transform((text) => parseDigest(kind, text));
/** The digest of bytes. */
export const contentDigest = z.templateLiteral([
  'sha256:',
  z.string().regex(/^[0-9a-f]{64}$/),
]) satisfies z.ZodType<ContentDigest>;
/** A commit, or a digest. */
export const head = z.string().regex(/^(?:sha256:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{64})$/);

export const list = <T extends z.ZodType>(member: T, max = LIST_LIMIT) => z.array(member).max(max);

/** A list that says each thing once. */
export const set = <T extends z.ZodType>(member: T, keyOf: (member: z.output<T>) => string, max = LIST_LIMIT) =>
  list(member, max).refine(
    (members) => new Set(members.map(keyOf)).size === members.length,
    'names one of its members twice',
  );

export const evidenceRef = z.strictObject({ id, digest: contentDigest });
export const evidenceRefs = set(evidenceRef, (ref) => ref.id);
export const principal = z.strictObject({ id, lineage: list(id, 16) });
export const methods = set(z.enum(METHODS), (method) => method, METHODS.length);
export const policyRef = z.strictObject({ id, revision, digest: digest('policy') });
export const definitionRef = z.strictObject({ id, revision, digest: digest('gate-definition') });

/** What a schema makes of a value. @throws `schema_invalid` naming the first field that is wrong. */
export function readWith<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw portcullisError('schema_invalid', {
    path: [what, ...(issue?.path.map(String) ?? [])].join('.').slice(0, 200),
    reason: (issue?.message ?? 'is not of this schema').slice(0, 200),
  });
}
