/** Ids that nobody can guess and every replica makes alike: HMAC under a key of who admits (spec/delegated-verification.md section 5). */
import { createHmac } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** The task of a run: 130 bits of HMAC over its workflow id, which holds tenant, pair, request digest and run. */
export function taskIdOf(key: Uint8Array, workflowId: string): string {
  return idOf(key, 'task', workflowId);
}

/** The context of a pair's execution: every task of it has this one, so that a list can be narrowed to it. */
export function contextIdOf(key: Uint8Array, tenant: string, pair: string, execution: string): string {
  return idOf(key, 'context', tenant, pair, execution);
}

function idOf(key: Uint8Array, ...parts: readonly string[]): string {
  return base32(createHmac('sha256', key).update(parts.join('\0')).digest()).slice(0, 26);
}

/** RFC 4648 base32 in lower case, without padding. */
export function base32(bytes: Uint8Array): string {
  let out = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      out += ALPHABET.charAt((held >> bits) & 31);
    }
  }
  return bits === 0 ? out : out + ALPHABET.charAt((held << (5 - bits)) & 31);
}
