import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { watchDisk, type DiskWatch } from './disk-watch.ts';
import type { DiskBounds } from './settings.ts';

const MIB = 1024 ** 2;
const PLENTY = 1024 ** 2 * MIB;
const BOUNDS: DiskBounds = { bytes: 8 * MIB, files: 100, freeBytes: 16 * MIB, lookMs: 10 };

let root: string;
let free: number;
let walks: number;
let alive: string[];
let ended: (readonly [string, string])[];
let watch: DiskWatch;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'portcullis-disk-watch-'));
  free = PLENTY;
  alive = ['a', 'b', 'c'];
  ended = [];
  walks = 0;
  for (const id of alive) mkdirSync(join(root, id));
});
afterEach(() => {
  watch.close();
  rmSync(root, { recursive: true, force: true });
});

function start(find = 'find', change: Partial<DiskBounds> = {}): void {
  watch = watchDisk({
    bounds: { ...BOUNDS, ...change },
    find,
    free: () => Promise.resolve(free),
    alive: () => {
      walks += 1;
      return Promise.resolve(alive.map((id) => ({ id, directory: join(root, id) })));
    },
    end: (id, reason) => {
      alive = alive.filter((one) => one !== id);
      ended.push([id, reason]);
      free = PLENTY;
      return Promise.resolve();
    },
  });
}

function write(id: string, name: string, bytes: number): void {
  writeFileSync(join(root, id, name), Buffer.alloc(bytes, 1));
}

/** Everything that was there is counted by now: a walk that began since has ended. */
async function counted(): Promise<void> {
  const from = walks;
  const walked = () => {
    // Something is written, so that there is reason to.
    if (free > PLENTY / 2) free -= 2 * MIB;
    return walks;
  };
  await expect.poll(walked, { interval: 10, timeout: 15_000 }).toBeGreaterThan(from + 1);
}

/** A `find` that does what a shell says before it counts. */
function findAfter(script: string): string {
  const path = join(root, 'find');
  writeFileSync(path, `#!/bin/sh\n${script}\nexec find "$@"\n`, { mode: 0o755 });
  return path;
}

/** A `find` that waits as long as the file `hold` is there, and says so in the file `held`. */
function findHeld(): string {
  return findAfter(`while [ -e ${root}/hold ]; do : > ${root}/held; sleep 0.02; done`);
}

async function held(): Promise<void> {
  const begun = () => {
    if (free > PLENTY / 2) free -= 2 * MIB;
    return existsSync(join(root, 'held'));
  };
  await expect.poll(begun, { interval: 10, timeout: 15_000 }).toBe(true);
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
    await counted();
    write('b', 'new', 3 * MIB);
    write('c', 'new', 2 * MIB);
    free = 15 * MIB;
    await expect.poll(gone, { timeout: 15_000 }).toEqual(['b']);
    await counted();
    expect(alive).toEqual(['a', 'c']);
  });

  test('ends while it still grows slowly once half of what has to be left is gone: then whoever holds most', async () => {
    write('a', 'some', 2 * MIB);
    write('b', 'most', 6 * MIB);
    start();
    await counted();
    free = 12 * MIB;
    await counted();
    expect(gone()).toEqual([]);
    free = 7 * MIB;
    await expect.poll(gone, { timeout: 15_000 }).toEqual(['b']);
  });

  test('is taken for the largest when it keeps whoever counts out of a directory', async () => {
    const blind = findAfter('case $1 in */c) echo "find: x: Permission denied" >&2; exit 1;; esac');
    write('a', 'large', 6 * MIB);
    start(blind);
    await counted();
    free = 15 * MIB;
    await expect.poll(gone, { timeout: 15_000 }).toEqual(['c']);
  });
});

describe('[inv-19] while the trees are counted, or were for long', () => {
  test('the disk is looked at, and whoever takes the last of it ends before the count would have', async () => {
    start(findHeld());
    await counted();
    writeFileSync(join(root, 'hold'), '');
    await held();
    write('b', 'new', 3 * MIB);
    write('c', 'new', 2 * MIB);
    free = 15 * MIB;
    // The count of before goes on as long as it is held; another takes its place.
    await expect.poll(() => walks, { interval: 10, timeout: 15_000 }).toBeGreaterThan(walks);
    rmSync(join(root, 'hold'));
    await expect.poll(gone, { timeout: 15_000 }).toEqual(['b']);
  });

  test('what was written meanwhile is not what its writer had before', async () => {
    writeFileSync(join(root, 'hold'), '');
    start(findHeld(), { lookMs: 1_000 });
    await held();
    write('b', 'meanwhile', 6 * MIB);
    free = 15 * MIB;
    rmSync(join(root, 'hold'));
    write('a', 'later', 2 * MIB);
    await expect.poll(gone, { timeout: 15_000 }).toEqual(['b']);
  });

  test('whoever takes the last of it ends without a rest after a long count', async () => {
    start(findAfter(`[ -e ${root}/counted ] || sleep 1; case $1 in */c) : > ${root}/counted;; esac`));
    await expect.poll(() => existsSync(join(root, 'counted')), { interval: 10, timeout: 15_000 }).toBe(true);
    const from = performance.now();
    write('b', 'new', 3 * MIB);
    free = 15 * MIB;
    await expect.poll(gone, { timeout: 15_000 }).toEqual(['b']);
    expect(performance.now() - from).toBeLessThan(8_000);
  });
});

test('a disk that had little from the start ends nobody who does not take it', async () => {
  write('a', 'large', 6 * MIB);
  free = 10 * MIB;
  start();
  await expect.poll(() => walks, { interval: 10, timeout: 15_000 }).toBe(1);
  free = 8 * MIB;
  await expect.poll(() => walks, { interval: 10, timeout: 15_000 }).toBe(2);
  free = 6 * MIB;
  await expect.poll(() => walks, { interval: 10, timeout: 15_000 }).toBe(3);
  expect(gone()).toEqual([]);
});
