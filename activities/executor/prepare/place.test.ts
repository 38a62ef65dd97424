import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { commitFiles } from './commit-files.ts';
import { placeModules } from './place.ts';

const never = new AbortController().signal;

let directory: string;
/** What a tool prepared, the copy of the commit, and what belongs to somebody else. */
let tree: string;
let work: string;
let outside: string;
beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'portcullis-place-')));
  [tree, work, outside] = [join(directory, 'tree'), join(directory, 'work'), join(directory, 'outside')];
  for (const path of ['tree/node_modules/dep', 'tree/packages/a/node_modules/dep', 'work', 'outside/node_modules'])
    await mkdir(join(directory, path), { recursive: true });
  await writeFile(join(tree, 'node_modules/dep/index.js'), 'prepared');
  await writeFile(join(outside, 'node_modules/own'), 'kept');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const untouched = async () => expect(await readdir(join(outside, 'node_modules'))).toEqual(['own']);

it('[inv-05] gives a command its own copy, in place of what the commit has there', async () => {
  await mkdir(join(work, 'node_modules/dep'), { recursive: true });
  await writeFile(join(work, 'node_modules/dep/index.js'), 'of the commit');
  await writeFile(join(work, 'node_modules/more'), 'of the commit');
  await placeModules(tree, work, [''], never);
  expect(await readFile(join(work, 'node_modules/dep/index.js'), 'utf8')).toBe('prepared');
  expect(await readdir(join(work, 'node_modules'))).toEqual(['dep']);
  await writeFile(join(work, 'node_modules/dep/index.js'), 'spoilt');
  expect(await readFile(join(tree, 'node_modules/dep/index.js'), 'utf8')).toBe('prepared');
});

it('[inv-15] removes a node_modules that is a link, and not what it leads to', async () => {
  await symlink(join(outside, 'node_modules'), join(work, 'node_modules'));
  await placeModules(tree, work, [''], never);
  expect((await lstat(join(work, 'node_modules'))).isDirectory()).toBe(true);
  await untouched();
});

it('[inv-15] places nothing through a member that is a link out of the tree', async () => {
  await mkdir(join(work, 'packages'));
  await symlink(outside, join(work, 'packages/a'));
  await expect(placeModules(tree, work, ['packages/a'], never)).rejects.toMatchObject({ code: 'prepare_failed' });
  await untouched();
});

it('[inv-15] places nothing below a link on the way to a member', async () => {
  await mkdir(join(outside, 'a'));
  await symlink(outside, join(work, 'packages'));
  await expect(placeModules(tree, work, ['packages/a'], never)).rejects.toMatchObject({ code: 'prepare_failed' });
  expect(await readdir(join(outside, 'a'))).toEqual([]);
});

it('[inv-15] reads no lockfile that is a link, nor one below a link', async () => {
  await writeFile(join(outside, 'package-lock.json'), 'secret');
  await symlink(join(outside, 'package-lock.json'), join(work, 'package-lock.json'));
  await symlink(outside, join(work, 'packages'));
  const files = commitFiles(work, null);
  expect(await files.read('package-lock.json')).toBeNull();
  expect(await files.read('packages/package-lock.json')).toBeNull();
  expect(await files.read('../outside/package-lock.json')).toBeNull();
});
