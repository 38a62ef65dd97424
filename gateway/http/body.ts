/** Reads request bodies: bounded in bytes and in time, never parsed by anyone else. */
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { JsonValue } from '../../schemas/canonical.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { readStrictJson, STRICT_JSON_LIMITS } from '../../schemas/strict-json.ts';

/** A request whose body has not been read. */
export type Incoming = Readable & { readonly headers: { readonly 'content-length'?: string | undefined } };

/**
 * The whole body. What is too long is refused at its announced length, or at the first byte over.
 * @throws `body_too_large`; `stream_cut` when the caller went away.
 */
export async function readBody(req: Incoming, maxBytes: number): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > maxBytes)
    throw portcullisError('body_too_large', { limit: maxBytes });
  const parts: Buffer[] = [];
  let total = 0;
  try {
    for await (const part of req.iterator({ destroyOnReturn: false })) {
      const bytes = Buffer.from(part as Uint8Array);
      total += bytes.length;
      if (total > maxBytes) break;
      parts.push(bytes);
    }
  } catch (thrown) {
    throw portcullisError('stream_cut', {}, thrown);
  }
  if (total > maxBytes) throw portcullisError('body_too_large', { limit: maxBytes });
  return Buffer.concat(parts, total);
}

/**
 * The body as one strict JSON document.
 * @throws `body_too_large` and the `json_…` codes
 */
export async function readJsonBody(req: Incoming, maxBytes: number): Promise<JsonValue> {
  return readStrictJson(await readBody(req, maxBytes), { ...STRICT_JSON_LIMITS, maxBytes });
}

/**
 * A value as its schema says.
 * @throws `schema_invalid`, naming the first field that is wrong
 */
export function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const outcome = schema.safeParse(value);
  if (outcome.success) return outcome.data;
  const [issue] = outcome.error.issues;
  const path = ['$', ...(issue?.path ?? []).map(String)].join('.').slice(0, 200);
  throw portcullisError('schema_invalid', { path, reason: (issue?.message ?? 'is invalid').slice(0, 200) });
}
