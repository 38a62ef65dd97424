/**
 * Who acts on the local Coder, each by a token of its own (spec/workspaces.md section 3). The first two are one user,
 * because a chat reaches only workspaces of its owner; what tells them apart is what the token may do.
 */
import type { SeedUser } from './seed.ts';

/** User that owns the workspaces. */
export const SERVICE_USER = 'portcullis';
export const BREAK_GLASS_USER = 'portcullis-admin';

/** Everything about workspaces and nothing else: no chat, no user, no template is changed with it. */
export const LIFECYCLE_SCOPES = [
  'coder:workspaces.create',
  'coder:workspaces.operate',
  'coder:workspaces.delete',
  'coder:workspaces.access',
  'template:read',
  'organization:read',
  'user:read',
] as const;

export interface CoderTokens {
  readonly lifecycle: string;
  /** No scope grants chats, so this one carries everything that its user may do. */
  readonly chat: string;
  /** Orphan deletes need template rights. */
  readonly breakGlass: string;
}

export function serviceUsers(tokens: CoderTokens): readonly SeedUser[] {
  return [
    {
      username: SERVICE_USER,
      siteRoles: [],
      organizationRoles: ['agents-access'],
      tokens: [
        { key: tokens.lifecycle, name: 'lifecycle', scopes: LIFECYCLE_SCOPES },
        { key: tokens.chat, name: 'chat', scopes: ['coder:all'] },
      ],
    },
    {
      username: BREAK_GLASS_USER,
      siteRoles: ['owner'],
      organizationRoles: [],
      tokens: [{ key: tokens.breakGlass, name: 'break-glass', scopes: ['coder:all'] }],
    },
  ];
}
