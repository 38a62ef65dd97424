/**
 * Who is calling. Tenant, pair, role and use come from the credential's record, never from what the call says.
 *
 * @example const principal = await authenticate(ctx, req); requireUse(principal, ['agent'])
 */
import type { CredentialRecord, CredentialUse } from '../../schemas/credential.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { isExecutorRole } from '../../schemas/names.ts';
import type { Seat } from '../../schemas/queues.ts';
import type { GatewayContext } from '../context.ts';
import { bearerOf, parseBearer } from './bearer.ts';
import type { CredentialView } from './credentials.ts';

/** An active, unexpired credential that was read from the store just now. */
export type Principal = CredentialRecord;

/** Anything with an `Authorization` header. */
export interface AuthorizedCall {
  readonly headers: { readonly authorization?: string | undefined };
}

type Authority = Pick<GatewayContext, 'keys' | 'credentials' | 'tenants'>;

/**
 * The principal of a call.
 * @throws `unauthenticated` for no, a forged, an expired or a revoked bearer; `store_unavailable` while revocation cannot be read.
 */
export async function authenticate(ctx: Authority, call: AuthorizedCall): Promise<Principal> {
  return activePrincipal(await lookUp(ctx, call.headers.authorization));
}

/** The record behind an `Authorization` value, whatever its state. @throws `unauthenticated`, `store_unavailable` */
export async function lookUp(ctx: Authority, authorization: string | undefined): Promise<CredentialView> {
  const claim = parseBearer(ctx.keys.gatewayKey, bearerOf(authorization));
  if (!ctx.tenants.includes(claim.tenant)) throw portcullisError('unauthenticated');
  return ctx.credentials.look(claim.tenant, claim.id);
}

/** The principal of a view that permits something new. @throws `unauthenticated`, `store_unavailable` */
export function activePrincipal({ record, current, now }: CredentialView): Principal {
  if (record?.state !== 'active' || record.expiresAt <= now) throw portcullisError('unauthenticated');
  if (!current)
    throw portcullisError('store_unavailable', { reason: 'whether the credential was revoked is not known' });
  return record;
}

/** @throws `not_allowed` when the credential is for another use. */
export function requireUse(principal: Principal, uses: readonly CredentialUse[], action: string): void {
  if (!uses.includes(principal.use)) throw portcullisError('not_allowed', { action });
}

/** The seat that an executor's credential is bound to. @throws `not_allowed` for any other credential. */
export function seatOf(principal: Principal, action: string): Seat {
  requireUse(principal, ['executor'], action);
  const { tenant, pair, role, workspaceGeneration } = principal;
  if (!isExecutorRole(role)) throw portcullisError('not_allowed', { action });
  return { tenant, pair, role, workspaceGeneration };
}
