/** Users and their tokens: made, found, let in. */
import { randomBytes, randomUUID } from 'node:crypto';
import { type Asker, secretDigest } from '../http/asker.ts';
import { notFound } from '../http/refusal.ts';
import type { LocalCoderContext } from '../context.ts';
import type { State } from '../state/state.ts';
import type { Token, User } from '../state/records.ts';

/** For an owner. Others may have tokens that outlive the installation. */
export const OWNER_TOKEN_HOURS = 168;
export const LONGEST_TOKEN_HOURS = 876_600;
const HOUR_MS = 3_600_000;

export interface NewUser {
  readonly username: string;
  readonly email: string;
  readonly name: string;
  readonly password: string | null;
  readonly siteRoles: User['siteRoles'];
  readonly organizationRoles: User['organizationRoles'];
}

export function addUser({ state, clock }: LocalCoderContext, user: NewUser): User {
  const { password, ...rest } = user;
  return state.users.put({
    ...rest,
    id: randomUUID(),
    createdAt: clock.iso(),
    lastSeenAt: null,
    // As recorded: a user that never signed in is dormant. One without a password comes by token only.
    status: password === null ? 'active' : 'dormant',
    passwordDigest: password === null ? null : secretDigest(password),
  });
}

export function userNamed(state: State, name: string): User | undefined {
  return state.users.all().find(({ username }) => username.toLowerCase() === name.toLowerCase());
}

/** `me`, a name or an id. @throws 404 for one that is not there */
export function userOf(state: State, asker: Asker, name: string): User {
  if (name === 'me') return asker.user;
  const user = state.users.get(name) ?? userNamed(state, name);
  if (user === undefined) throw notFound();
  return user;
}

/** A token's id and secret, as sent: 10 and 22 letters and digits. */
export function newKey(): string {
  const letters = (count: number) =>
    randomBytes(count * 2)
      .toString('base64')
      .replaceAll(/[^A-Za-z0-9]/g, '')
      .slice(0, count);
  return `${letters(10)}-${letters(22)}`;
}

/** Remembers a key, with its digest only. @throws Error for one that is not of the form */
export function addToken(
  { state, clock }: LocalCoderContext,
  user: User,
  key: string,
  token: { readonly name: string; readonly scopes: readonly string[]; readonly hours: number },
): Token {
  const [id, secret] = key.split('-');
  if (id === undefined || secret === undefined)
    throw new Error('a session token is an id and a secret, with a hyphen between');
  return state.tokens.put({
    id,
    userId: user.id,
    name: token.name,
    secretDigest: secretDigest(secret),
    scopes: [...token.scopes],
    createdAt: clock.iso(),
    expiresAt: new Date(clock.now().getTime() + token.hours * HOUR_MS).toISOString(),
  });
}
