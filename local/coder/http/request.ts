/** Reading requests as the real server does: its words for a body that is none, for ids that are none, for bad queries. */
import type { Request } from 'express';
import { z } from 'zod';
import { refuse, refuseFields } from './refusal.ts';

/** Bodies arrive as bytes, because some routes take no JSON. */
function jsonOf(request: Request): unknown {
  const bytes: unknown = request.body;
  const text = Buffer.isBuffer(bytes) ? bytes.toString('utf8') : '';
  try {
    return JSON.parse(text);
  } catch {
    throw refuse(400, 'Request body must be valid JSON.', text === '' ? 'EOF' : 'unexpected EOF');
  }
}

/** The body in the shape of `schema`; a value of another type is refused as one that is not JSON, as the real server does. */
export function readBody<Value>(request: Request, schema: z.ZodType<Value>): Value {
  const read = schema.safeParse(jsonOf(request));
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  throw refuse(400, 'Request body must be valid JSON.', issue?.message ?? 'cannot unmarshal');
}

/** An id in a body: anything else is no JSON to the server. */
export const bodyId = z.string().superRefine((text, context) => {
  if (!isUuid(text)) context.addIssue({ code: 'custom', message: `invalid UUID length: ${text.length}` });
});

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

/** A parameter of the route. */
export function pathText(request: Request, name: string): string {
  const value: unknown = request.params[name];
  return typeof value === 'string' ? value : '';
}

export function pathId(request: Request, name: string): string {
  const text = pathText(request, name);
  if (!isUuid(text)) throw refuse(400, `Invalid UUID "${text}".`, `invalid UUID length: ${text.length}`);
  return text.toLowerCase();
}

/** A query value given once; empty when it is absent. */
export function queryText(request: Request, name: string): string {
  const value: unknown = request.query[name];
  return typeof value === 'string' ? value : '';
}

export function queryNumber(request: Request, name: string): number {
  const text = queryText(request, name);
  if (text === '') return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw refuseFields('Query parameters have invalid values.', [
    { field: name, detail: `Query param "${name}" must be a valid integer: ${text}` },
  ]);
}

/** A part of a list. A limit of 0 is none. */
export function page<Item>(request: Request, items: readonly Item[]): readonly Item[] {
  const offset = queryNumber(request, 'offset');
  const limit = queryNumber(request, 'limit');
  return items.slice(offset, limit === 0 ? undefined : offset + limit);
}

/** `key:value` pairs of a search; a word without a key searches by name. Quotes keep blanks together. */
export function searchTerms(q: string): readonly (readonly [key: string, value: string])[] {
  return [...q.matchAll(/(?:([a-z_-]+):)?(?:"([^"]*)"|(\S+))/g)].map(([, key, quoted, bare]) => [
    key ?? 'name',
    (quoted ?? bare ?? '').replaceAll('"', ''),
  ]);
}

/** @throws the server's refusal of a key that it does not search by */
export function checkSearchKeys(
  terms: readonly (readonly [string, string])[],
  known: readonly string[],
  message: string,
): void {
  const unknown = terms.filter(([key]) => !known.includes(key));
  if (unknown.length === 0) return;
  throw refuseFields(
    message,
    unknown.map(([field]) => ({ field, detail: `"${field}" is not a valid query param` })),
  );
}
