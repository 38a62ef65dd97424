/** Reads stored JSON back into the record it claims to be. What cannot be read is refused, never guessed. */
import type { z } from 'zod';
import { canonicalText } from '../../../schemas/canonical.ts';
import { portcullisError } from '../../../schemas/errors.ts';

/** @throws `record_unreadable` */
export function readRecord<T>(what: string, schema: z.ZodType<T>, text: string): T {
  const parsed = schema.safeParse(parseJson(what, text));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = issue?.path.map(String).join('.') ?? '';
  throw portcullisError('record_unreadable', { what, reason: `${path} ${issue?.message ?? 'is not as it should be'}` });
}

/** The same; `null` when there is none. @throws `record_unreadable` */
export function readOptional<T>(what: string, schema: z.ZodType<T>, text: string | null): T | null {
  return text === null ? null : readRecord(what, schema, text);
}

/** The bytes a record is stored as: one text for one value, so that "the same" can be compared. */
export function recordText(record: object): string {
  return canonicalText(record);
}

function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw portcullisError('record_unreadable', { what, reason: 'it is not JSON' });
  }
}
