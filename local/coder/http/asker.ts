/** Who asks: the user behind a token, and what the token and the user's roles let them do. */
import { timingSafeEqual } from 'node:crypto';
import { contentDigest } from '../../../schemas/digest.ts';
import type { Clock } from '../clock.ts';
import type { State } from '../state/state.ts';
import type { User } from '../state/records.ts';
import { Refusal } from './refusal.ts';
import { grantsOf } from './scopes.ts';

export interface Asker {
  readonly user: User;
  /** Whether the token's scopes cover this permission (`workspace:read`). Roles are asked beside it. */
  covers(permission: string): boolean;
  /** Reads and changes what belongs to others. */
  readonly isOwner: boolean;
  /** May bring state of its own, orphan included. */
  readonly managesTemplates: boolean;
  /** May use chats; no scope grants them, so the token must carry everything. */
  readonly mayChat: boolean;
}

export function secretDigest(secret: string): string {
  return contentDigest(new TextEncoder().encode(secret));
}

/** A header by its name, in small letters. */
export type HeaderReader = (name: string) => string | undefined;

/** The token as sent: header of its own, bearer, cookie or query. */
function tokenOf(header: HeaderReader): string {
  const bearer = /^Bearer (.+)$/i.exec(header('authorization') ?? '')?.[1];
  const cookie = /(?:^|;\s*)coder_session_token=([^;]+)/.exec(header('cookie') ?? '')?.[1];
  return header('coder-session-token') ?? bearer ?? cookie ?? '';
}

/** The asker, or the refusal that a route with a guard answers. Three texts tell why. */
export function identify(state: State, clock: Clock, header: HeaderReader): Asker | Refusal {
  const token = tokenOf(header);
  if (token === '') return signedOut('Cookie "coder_session_token" or query parameter must be provided.');
  const parts = token.split('-');
  const [id, secret] = parts;
  if (parts.length !== 2 || id === undefined || secret === undefined) {
    return signedOut(`Invalid API key format: incorrect amount of API key parts, expected 2 got ${parts.length}`);
  }
  const known = state.tokens.get(id);
  const user = known === undefined ? undefined : state.users.get(known.userId);
  if (known === undefined || user === undefined || !same(known.secretDigest, secretDigest(secret))) {
    return signedOut('API key is invalid.');
  }
  if (Date.parse(known.expiresAt) <= clock.now().getTime())
    return signedOut(`API key expired at "${known.expiresAt}".`);
  return askerOf(user, known.scopes);
}

export function askerOf(user: User, scopes: readonly string[]): Asker {
  const grants = grantsOf(scopes);
  const isOwner = user.siteRoles.includes('owner');
  const covers = (permission: string) =>
    grants === 'all' || grants.has(permission) || grants.has(`${permission.split(':')[0] ?? ''}:*`);
  return {
    user,
    covers,
    isOwner: isOwner,
    managesTemplates: (isOwner || user.siteRoles.includes('template-admin')) && covers('template:update'),
    mayChat: grants === 'all' && (isOwner || user.organizationRoles.includes('agents-access')),
  };
}

function same(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function signedOut(detail: string): Refusal {
  const message = 'You are signed out or your session has expired. Please sign in again to continue.';
  return new Refusal(401, { message, detail }, { 'WWW-Authenticate': 'Bearer realm="coder", error="invalid_token"' });
}
