/** A file or stdin, read only until it is known to be too large. */
import { createReadStream } from 'node:fs';
import { portcullisError } from '../schemas/errors.ts';

/**
 * @param file a path; `-` is stdin
 * @throws `not_found`, `usage` when it cannot be read, `body_too_large`
 */
export async function readBoundedFile(
  file: string,
  maxBytes: number,
  stdin: AsyncIterable<unknown> = process.stdin,
): Promise<Uint8Array> {
  const bytes = await readPastBound(file, maxBytes, stdin);
  if (bytes.length > maxBytes) throw portcullisError('body_too_large', { limit: maxBytes });
  return bytes;
}

/**
 * The same for whoever answers a file that is too large by itself: reading stops once more than `maxBytes` are there.
 * @throws `not_found`, `usage` when it cannot be read
 */
export async function readPastBound(
  file: string,
  maxBytes: number,
  stdin: AsyncIterable<unknown> = process.stdin,
): Promise<Uint8Array> {
  const source: AsyncIterable<unknown> = file === '-' ? stdin : createReadStream(file);
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of source) {
      const bytes = chunk instanceof Uint8Array ? chunk : new TextEncoder().encode(String(chunk));
      chunks.push(bytes);
      length += bytes.length;
      if (length > maxBytes) break;
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code === 'ENOENT') throw portcullisError('not_found', { what: 'file', id: file }, error);
    throw portcullisError('usage', { reason: `${file} cannot be read (${code})` }, error);
  }
  return Buffer.concat(chunks);
}
