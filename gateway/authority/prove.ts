/** What a genuine bearer is worth to the connection it came over. */
import type { Connections } from '../connections.ts';
import type { GatewayContext } from '../context.ts';
import type { BearerClaim } from './bearer.ts';

/**
 * It counts for its connection at once, whatever the answer will be and also while the store is away, and until its credential
 * is read to be revoked.
 */
export function proveConnection(
  { credentials, tenants }: Pick<GatewayContext, 'credentials' | 'tenants'>,
  connections: Connections,
  connection: string,
  { tenant, id }: BearerClaim,
): void {
  if (!tenants.includes(tenant)) return;
  const holder = `${tenant}/${id}`;
  if (!credentials.isEnded(holder)) connections.prove(connection, holder);
  // Not every call is authenticated; what the store does not answer now, it is asked at the next.
  credentials.look(tenant, id).catch(() => {});
}
