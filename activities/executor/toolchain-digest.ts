/** Digest of the files that make up a tool: another compiler is another toolchain, whatever it calls itself. */
import { stat } from 'node:fs/promises';
import { canonicalBytes } from '../../schemas/canonical.ts';
import { contentDigest, type ContentDigest } from '../../schemas/digest.ts';
import { hashFile } from '../content/hasher.ts';
import type { Tool } from './toolchains.ts';

/** Remembers files by identity and change time, so that a compiler of 100 MB is read once and not at each run. */
export function createToolchainDigests(): (tools: readonly Tool[]) => Promise<ContentDigest> {
  const known = new Map<string, ContentDigest>();

  async function digestOfFile(path: string): Promise<ContentDigest> {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
    const identity = [path, dev, ino, size, mtimeMs, ctimeMs].join(' ');
    const digest = known.get(identity) ?? (await hashFile(path)).sha256;
    known.set(identity, digest);
    return digest;
  }

  return async (tools) => {
    const files = tools.flatMap(({ name, files: paths }) => paths.map((path, index) => ({ name, index, path })));
    const digests = await Promise.all(
      files.map(async ({ name, index, path }) => ({ name, index, sha256: await digestOfFile(path) })),
    );
    return contentDigest(canonicalBytes(digests));
  };
}
