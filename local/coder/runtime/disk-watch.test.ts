import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { watchDisk, type DiskWatch } from './disk-watch.ts';
import type { DiskBounds } from './settings.ts';

const MIB = 1024 ** 2;
const BOUNDS: DiskBounds = { bytes: 8 * MIB, files: 100, freeBytes: 16 * MIB, lookMs: 10 };

let root: string;
let free: number;
let looks: number;
let alive: string[];
let ended: (readonly [string, string])[];
let watch: DiskWatch;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'portcullis-disk-watch-'));
  free = 1024 * MIB;
  alive = ['a', 'b', 'c'];
  ended = [];
  looks = 0;
  for (const id of alive) mkdirSync(join(root, id));
});
afterEach(() => {
  watch.close();
  rmSync(root, { recursive: true, force: true });
});

function start(find = 'find'): void {
  watch = watchDisk({
    bounds: BOUNDS,
    find,
    free: () => {
      looks += 1;
      return Promise.resolve(free);
    },
    alive: () => Promise.resolve(alive.map((id) => ({ id, directory: join(root, id) }))),
    end: (id, reason) => {
      alive = alive.filter((one) => one !== id);
      ended.push([id, reason]);
      free = 1024 * MIB;
      return Promise.resolve();
    },
  });
}

function write(id: string, name: string, bytes: number): void {
  writeFileSync(join(root, id, name), Buffer.alloc(bytes, 1));
}

/** Everything that was there is seen by now: a look that began since has ended. */
async function looked(): Promise<void> {
  const from = looks;
  await expect.poll(() => looks, { interval: 10, timeout: 15_000 }).toBeGreaterThan(from + 1);
}

const gone = () => ended.map(([id]) => id);

describe('[inv-19] a workspace that fills the disk', () => {
  test.each([
    ['bytes', () => write('b', 'large', 9 * MIB)],
    ['files', () => Array.from({ length: 101 }, (_, n) => write('b', String(n), 1))],
  ])('ends with more than its %s, and no other does', async (_, fill) => {
    write('a', 'allowed', 7 * MIB);
    fill();
    start();
    await expect.poll(gone, { timeout: 15_000 }).toEqual(['b']);
    expect(ended[0]?.[1]).toContain('holds more than 8 MiB or 100 files');
  });

  test('ends when it is what takes the last of it, and not whoever held more before', async () => {
    write('a', 'large', 6 * MIB);
    start();
    await looked();
    write('b', 'new', 3 * MIB);
    write('c', 'new', 2 * MIB);
    free = 15 * MIB;
    await expect.poll(gone, { timeout: 15_000 }).toEqual(['b']);
    await looked();
    expect(alive).toEqual(['a', 'c']);
  });

  test('ends while it still grows slowly once half of what has to be left is gone: then whoever holds most', async () => {
    write('a', 'some', 2 * MIB);
    write('b', 'most', 6 * MIB);
    start();
    await looked();
    free = 12 * MIB;
    await looked();
    expect(gone()).toEqual([]);
    free = 7 * MIB;
    await expect.poll(gone, { timeout: 15_000 }).toEqual(['b']);
  });

  test('is taken for the largest when it keeps whoever counts out of a directory', async () => {
    const blind = join(root, 'blind');
    writeFileSync(
      blind,
      '#!/bin/sh\ncase $1 in */c) echo "find: x: Permission denied" >&2;; *) exec find "$@";; esac\n',
      {
        mode: 0o755,
      },
    );
    write('a', 'large', 6 * MIB);
    start(blind);
    await looked();
    free = 15 * MIB;
    await expect.poll(gone, { timeout: 15_000 }).toEqual(['c']);
  });
});

test('a disk that had little from the start ends nobody who does not take it', async () => {
  write('a', 'large', 6 * MIB);
  free = 10 * MIB;
  start();
  await looked();
  free = 9 * MIB;
  await looked();
  expect(gone()).toEqual([]);
});
