/** `--limit` of the commands that list. */
import { portcullisError } from '../schemas/errors.ts';

/** @throws `usage` */
export function wholeLimit(text: string): number {
  const limit = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : Number.NaN;
  if (limit <= 500) return limit;
  throw portcullisError('usage', { reason: '--limit must be a whole number from 1 to 500' });
}
