/** A user and a token as the API shows them. */
import type { State } from '../state/state.ts';
import type { Token, User } from '../state/records.ts';

const ROLE_NAMES = { owner: 'Owner', 'template-admin': 'Template Admin', auditor: 'Auditor' } as const;

export function userView(state: State, user: User) {
  return {
    id: user.id,
    username: user.username,
    ...(user.name === '' ? {} : { name: user.name }),
    email: user.email,
    created_at: user.createdAt,
    updated_at: user.createdAt,
    last_seen_at: user.lastSeenAt ?? '0001-01-01T00:00:00Z',
    status: user.status,
    login_type: user.passwordDigest === null ? 'none' : 'password',
    organization_ids: [state.organizationId],
    roles: user.siteRoles.map((name) => ({ name, display_name: ROLE_NAMES[name] })),
    has_ai_seat: false,
  };
}

/** Never with its secret. When it was used is not kept. */
export function keyView(token: Token) {
  return {
    id: token.id,
    user_id: token.userId,
    last_used: token.createdAt,
    expires_at: token.expiresAt,
    created_at: token.createdAt,
    updated_at: token.createdAt,
    login_type: token.name === '' ? 'password' : 'token',
    scopes: token.scopes,
    token_name: token.name,
    lifetime_seconds: Math.round((Date.parse(token.expiresAt) - Date.parse(token.createdAt)) / 1000),
    allow_list: [{ type: '*', id: '*' }],
  };
}
