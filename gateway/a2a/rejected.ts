/**
 * A request that policy refused becomes a task that was born ended. It claims nothing and is not stored: reason, pair and
 * time are in its id under a MAC, so any replica answers for it, after any restart, and a flood of refusals takes no memory.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isErrorCode, type ErrorCode } from '../../schemas/errors.ts';
import { base32 } from '../../activities/content/task-id.ts';

export interface RejectedTask {
  readonly id: string;
  readonly pair: string;
  readonly code: ErrorCode;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** `r.<code>.<time, base 36>.<salt>.<mac>.<pair>`; a pair may hold dots, so it comes last. */
const FORM = /^r\.([a-z_]{1,32})\.([0-9a-z]{1,10})\.([a-z2-7]{8})\.([a-z2-7]{26})\.([A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;

/** The task of a refusal that happens now. */
export function makeRejectedTask(
  key: Uint8Array,
  tenant: string,
  refused: { readonly pair: string; readonly code: ErrorCode; readonly at: number },
): RejectedTask {
  const head = ['r', refused.code, refused.at.toString(36), base32(randomBytes(5))].join('.');
  const id = [head, macOf(key, tenant, head, refused.pair), refused.pair].join('.');
  return { id, ...refused };
}

/** The task behind such an id; `null` when this gateway did not make it for that tenant. */
export function readRejectedTask(key: Uint8Array, tenant: string, id: string): RejectedTask | null {
  const match = FORM.exec(id);
  const [, code, time, salt, mac, pair] = match ?? [];
  if (code === undefined || time === undefined || salt === undefined || mac === undefined || pair === undefined) {
    return null;
  }
  const expected = macOf(key, tenant, ['r', code, time, salt].join('.'), pair);
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(mac)) || !isErrorCode(code)) return null;
  return { id, pair, code, at: Number.parseInt(time, 36) };
}

function macOf(key: Uint8Array, tenant: string, head: string, pair: string): string {
  return base32(createHmac('sha256', key).update(['rejected', tenant, head, pair].join('\0')).digest().subarray(0, 16));
}
