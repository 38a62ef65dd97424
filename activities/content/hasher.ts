/** Digests of raw bytes as they stream by: files, output, git objects. Records are digested in `schemas/digest.ts`. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { ContentDigest } from '../../schemas/digest.ts';

export interface StreamHasher {
  update(bytes: Uint8Array): void;
  /** Digest of what came so far; more may follow. */
  digest(): ContentDigest;
}

/** SHA-256 over everything that {@link StreamHasher.update} is given. */
export function createStreamHasher(): StreamHasher {
  const hash = createHash('sha256');
  return {
    update: (bytes) => void hash.update(bytes),
    digest: () => `sha256:${hash.copy().digest('hex')}`,
  };
}

/** SHA-256 of what is left of a stream, and how many bytes that were. */
export async function hashStream(
  stream: Readable,
): Promise<{ readonly sha256: ContentDigest; readonly bytes: number }> {
  const hasher = createStreamHasher();
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    hasher.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: hasher.digest(), bytes };
}

/** SHA-256 of a file of ours. Not for paths that somebody else can replace: those are opened without following links first. */
export function hashFile(path: string): Promise<{ readonly sha256: ContentDigest; readonly bytes: number }> {
  return hashStream(createReadStream(path));
}

/** Git's two object formats. */
export type GitHashAlgorithm = 'sha1' | 'sha256';

/** The format that an object id of this length belongs to. */
export function gitHashAlgorithm(objectId: string): GitHashAlgorithm {
  return objectId.length === 64 ? 'sha256' : 'sha1';
}

/** The id git gives an object of this type and size, from its bytes. */
export async function gitObjectId(
  algorithm: GitHashAlgorithm,
  type: 'blob' | 'tree',
  size: number,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<string> {
  const hash = createHash(algorithm).update(`${type} ${size}\0`);
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest('hex');
}
