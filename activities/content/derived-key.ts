/** A secret of its own for one purpose, from the one on disk. */
import { createHmac } from 'node:crypto';

/** 32 bytes; another label gives an unrelated key. */
export function derivedKey(key: Uint8Array, label: string): Uint8Array {
  return createHmac('sha256', key).update(`portcullis:control:${label}:v1`).digest();
}
