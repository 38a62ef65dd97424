/** Whether a caller is the gateway. */
import { timingSafeEqual } from 'node:crypto';

export function holdsKey(given: unknown, key: string): boolean {
  const [a, b] = [Buffer.from(typeof given === 'string' ? given : ''), Buffer.from(key)];
  return a.length === b.length && timingSafeEqual(a, b);
}
