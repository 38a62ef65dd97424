import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { watchRun, type Watch } from './watch.ts';

const MIB = 1024 ** 2;

let root: string;
let run: string;
let watch: Watch;
let crossed: (readonly [string, string])[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'portcullis-watch-'));
  run = join(root, 'run');
  mkdirSync(run);
  crossed = [];
});
afterEach(() => {
  watch.close();
  rmSync(root, { recursive: true, force: true });
});

/** @param isHidden something in the run's copy may not be read by whoever counts */
function start(isHidden: boolean): void {
  const find = join(root, 'find');
  const denied = isHidden ? 'echo "find: x: Permission denied" >&2' : ':';
  writeFileSync(find, `#!/bin/sh\n${denied}\n: > ${root}/counted\nexec find "$@"\n`, { mode: 0o755 });
  watch = watchRun({
    directory: run,
    find,
    limits: { workBytes: 2 * MIB, files: 1_000 },
    first: () => null,
    onExceeded: (limit, reason) => crossed.push([limit, reason]),
  });
}

/** On the disk, and not only on its way there. */
function write(path: string, bytes: number): void {
  const file = openSync(path, 'w');
  writeSync(file, Buffer.alloc(bytes, 1));
  fsyncSync(file);
  closeSync(file);
}

const limits = () => crossed.map(([limit]) => limit);

test('[inv-19] a run that keeps something out of sight ends when the disk has lost more than it may write, by no limit of its copy', async () => {
  start(true);
  // The first look has seen the disk when nothing is written yet.
  await new Promise((resolve) => setTimeout(resolve, 100));
  write(join(root, 'another'), 64 * MIB);
  await expect.poll(limits, { timeout: 15_000 }).toEqual(['diskFree']);
  expect(crossed[0]?.[1]).toMatch(/^limit: more than \d+ bytes went from the disk/);
});

test('[inv-19] a run of which all can be counted is ended by what it wrote, and not by what another did', async () => {
  start(false);
  await new Promise((resolve) => setTimeout(resolve, 100));
  write(join(root, 'another'), 64 * MIB);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(limits()).toEqual([]);
  write(join(run, 'own'), 4 * MIB);
  await expect.poll(limits, { timeout: 15_000 }).toEqual(['workBytes']);
});
