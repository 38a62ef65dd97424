import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exampleRepository } from './example.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'example-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const git = (repository: string, ...args: string[]) =>
  execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim();

test('the example is a repository of two commits, the second of which adds the tests', async () => {
  const repository = await exampleRepository(directory);
  expect(git(repository, 'log', '--format=%s').split('\n')).toEqual(['Test the token bucket', 'Add a token bucket']);
  expect(git(repository, 'diff', '--name-only', 'HEAD~1', 'HEAD')).toMatch(/^test\//);
  expect(git(repository, 'status', '--porcelain')).toBe('');
});

test('its commits are the same wherever it is made', async () => {
  const first = git(await exampleRepository(join(directory, 'a')), 'rev-parse', 'HEAD');
  const second = git(await exampleRepository(join(directory, 'b')), 'rev-parse', 'HEAD');
  expect(second).toBe(first);
});

test('a repository that is there is left as it is', async () => {
  const repository = await exampleRepository(directory);
  const { ino } = statSync(repository);
  writeFileSync(join(repository, 'mine.txt'), 'mine');
  expect(await exampleRepository(directory)).toBe(repository);
  expect(statSync(repository).ino).toBe(ino);
  expect(git(repository, 'status', '--porcelain')).toBe('?? mine.txt');
});

test('one that is broken is made again', async () => {
  const repository = await exampleRepository(directory);
  rmSync(join(repository, '.git', 'HEAD'));
  await exampleRepository(directory);
  expect(git(repository, 'status', '--porcelain')).toBe('');
});
