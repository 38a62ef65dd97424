/**
 * Bearers: `pc1.<tenant>.<credential id>.<mac>`. The MAC says that this gateway made it for that record; what it may do is
 * in the record, and read again at each call.
 *
 * @example parseBearer(key, makeBearer(key, 'local', 'c1')) // { tenant: 'local', id: 'c1' }
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { portcullisError } from '../../schemas/errors.ts';
import { checkedName } from '../../schemas/names.ts';

const VERSION = 'pc1';
const ID_PATTERN = /^[A-Za-z0-9_-]{1,128}$/;
/** 256 bits in base64url, without padding. */
const MAC_PATTERN = /^[A-Za-z0-9_-]{43}$/;
const MAX_BEARER_CHARS = 320;

export interface BearerClaim {
  readonly tenant: string;
  readonly id: string;
}

/** @throws `schema_invalid` for a tenant or an id that cannot stand in a bearer. */
export function makeBearer(gatewayKey: Uint8Array, tenant: string, id: string): string {
  checkedName('tenant', tenant);
  if (!ID_PATTERN.test(id)) {
    throw portcullisError('schema_invalid', { path: 'credential id', reason: `must match ${ID_PATTERN.source}` });
  }
  return [VERSION, tenant, id, mac(gatewayKey, tenant, id)].join('.');
}

/**
 * Who the bearer says it is, once its MAC is verified in constant time.
 * @throws `unauthenticated`, the same for every reason.
 */
export function parseBearer(gatewayKey: Uint8Array, bearer: string): BearerClaim {
  if (bearer.length > MAX_BEARER_CHARS) throw portcullisError('unauthenticated');
  // A tenant may hold dots; the id and the MAC may not, so they are taken from the end.
  const match = /^pc1\.([^\s]+)\.([^.\s]+)\.([^.\s]+)$/.exec(bearer);
  const [, tenant, id, given] = match ?? [];
  if (tenant === undefined || id === undefined || given === undefined) throw portcullisError('unauthenticated');
  if (!ID_PATTERN.test(id) || !MAC_PATTERN.test(given)) throw portcullisError('unauthenticated');
  // As text: the last character of base64url has spare bits, and a bearer has one spelling.
  if (!timingSafeEqual(Buffer.from(mac(gatewayKey, tenant, id)), Buffer.from(given))) {
    throw portcullisError('unauthenticated');
  }
  return { tenant, id };
}

/** The bearer in an `Authorization` header or metadata value. @throws `unauthenticated` */
export function bearerOf(authorization: string | undefined): string {
  const match = /^Bearer ([^\s]+)$/i.exec(authorization ?? '');
  if (match?.[1] === undefined) throw portcullisError('unauthenticated');
  return match[1];
}

/** Who an `Authorization` value says it is, when this gateway's key made it, whatever became of its record; `null` otherwise. */
export function claimOf(gatewayKey: Uint8Array, authorization: string | undefined): BearerClaim | null {
  try {
    return parseBearer(gatewayKey, bearerOf(authorization));
  } catch {
    return null;
  }
}

export function isGenuine(gatewayKey: Uint8Array, authorization: string | undefined): boolean {
  return claimOf(gatewayKey, authorization) !== null;
}

function mac(key: Uint8Array, tenant: string, id: string): string {
  return createHmac('sha256', key).update(tenant).update('\0').update(id).digest('base64url');
}
