/**
 * Sealed task tokens. Temporal's own are unsigned: whoever can name a workflow can complete its activities. So an executor
 * gets the token with a MAC over it and over the seat it was dispatched to, and only what opens goes upstream.
 *
 * The seal keeps no state: another replica, or this one after a restart, opens what was sealed before.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { portcullisError } from '../../schemas/errors.ts';
import type { Seat } from '../../schemas/queues.ts';

/** What a token is bound to: one workspace of one role of one pair. */
export interface SealBinding extends Seat {
  readonly workspace: string;
}

const VERSION = 1;
const MAC_BYTES = 32;
const HEADER_BYTES = 1 + MAC_BYTES;

/** The token as the executor sees it: a version byte, the MAC, the token. */
export function sealToken(sealKey: Uint8Array, binding: SealBinding, token: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(VERSION), sealMac(sealKey, binding, token), token]);
}

/** The token that was sealed for this binding. @throws `token_unsealed` */
export function openToken(sealKey: Uint8Array, binding: SealBinding, sealed: Uint8Array): Uint8Array {
  if (sealed.length <= HEADER_BYTES || sealed[0] !== VERSION) throw portcullisError('token_unsealed');
  const token = sealed.subarray(HEADER_BYTES);
  if (!timingSafeEqual(sealMac(sealKey, binding, token), sealed.subarray(1, HEADER_BYTES))) {
    throw portcullisError('token_unsealed');
  }
  return token;
}

function sealMac(sealKey: Uint8Array, binding: SealBinding, token: Uint8Array): Buffer {
  const { tenant, pair, role, workspace, workspaceGeneration } = binding;
  // JSON of a list of strings: no two bindings have one text.
  const bound = JSON.stringify([tenant, pair, role, workspace, String(workspaceGeneration)]);
  return createHmac('sha256', sealKey)
    .update(`${Buffer.byteLength(bound)}:${bound}`)
    .update(token)
    .digest();
}
