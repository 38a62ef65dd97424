import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { contentDigest } from '../../schemas/digest.ts';
import { createStreamHasher, gitHashAlgorithm, gitObjectId, hashFile, hashStream } from './hasher.ts';

const BYTES = Buffer.from('hello\n');

describe('a digest of streamed bytes', () => {
  it('is that of the same bytes in memory, however they are cut', async () => {
    const hasher = createStreamHasher();
    for (const byte of BYTES) hasher.update(Uint8Array.of(byte));
    expect(hasher.digest()).toBe(contentDigest(BYTES));
    expect(await hashStream(Readable.from([BYTES.subarray(0, 2), BYTES.subarray(2)]))).toEqual({
      sha256: contentDigest(BYTES),
      bytes: 6,
    });
  });

  it('can be asked for while more comes', () => {
    const hasher = createStreamHasher();
    expect(hasher.digest()).toBe(contentDigest(new Uint8Array()));
    hasher.update(BYTES);
    expect(hasher.digest()).toBe(contentDigest(BYTES));
  });

  it('is read from a file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'portcullis-hash-'));
    await writeFile(join(directory, 'a'), BYTES);
    expect(await hashFile(join(directory, 'a'))).toEqual({ sha256: contentDigest(BYTES), bytes: 6 });
    await rm(directory, { recursive: true });
  });
});

describe('the id of a git object', () => {
  it('is what git says', async () => {
    expect(await gitObjectId('sha1', 'blob', 6, [BYTES])).toBe('ce013625030ba8dba906f756967f9e9ca394464a');
    expect(await gitObjectId('sha1', 'tree', 0, [])).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904');
    expect(gitHashAlgorithm('a'.repeat(64))).toBe('sha256');
  });
});
