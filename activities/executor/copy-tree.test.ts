import { execFileSync } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyTree, TreeCopyRefused } from './copy-tree.ts';

let root: string;
let from: string;
let to: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'portcullis-copy-')));
  from = join(root, 'from');
  to = join(root, 'to');
  await mkdir(from);
  await mkdir(to);
});
afterEach(() => rm(root, { recursive: true, force: true }));

test('files, modes, links as links and names of any bytes are copied; git and the rest are not', async () => {
  await mkdir(join(from, 'a', 'b'), { recursive: true });
  await mkdir(join(from, '.git'));
  await writeFile(join(from, '.git', 'config'), 'x');
  await writeFile(join(from, 'a', 'b', 'run.sh'), 'echo');
  await chmod(join(from, 'a', 'b', 'run.sh'), 0o755);
  await writeFile(Buffer.concat([Buffer.from(`${from}/`), Buffer.from([0xff, 0x41])]), 'odd');
  await writeFile(join(from, 'large'), Buffer.alloc(3 * 1024 * 1024 + 7, 7));
  await symlink('/etc/passwd', join(from, 'link'));
  execFileSync('mkfifo', [join(from, 'pipe')]);
  await copyTree({ from, to });
  expect((await readdir(to)).sort()).toEqual(['a', 'large', 'link', '\uFFFDA'].sort());
  expect((await stat(join(to, 'a', 'b', 'run.sh'))).mode & 0o777).toBe(0o755);
  expect(await readlink(join(to, 'link'))).toBe('/etc/passwd');
  expect((await readFile(join(to, 'large'))).equals(Buffer.alloc(3 * 1024 * 1024 + 7, 7))).toBe(true);
});

test('[inv-15] what links name outside is never read, however often a name changes meanwhile', async () => {
  const secret = join(root, 'secret');
  await mkdir(secret);
  await writeFile(join(secret, 'file'), 'secret');
  await mkdir(join(from, 'real'));
  await writeFile(join(from, 'real', 'file'), 'harmless');
  await symlink(secret, join(from, 'other'));
  const stop = new AbortController();
  const swapper = (async () => {
    while (!stop.signal.aborted) {
      await rename(join(from, 'real'), join(from, 'kept'));
      await rename(join(from, 'other'), join(from, 'real'));
      await rename(join(from, 'real'), join(from, 'other'));
      await rename(join(from, 'kept'), join(from, 'real'));
    }
  })();
  try {
    for (let round = 0; round < 30; round += 1) {
      const copy = join(root, `copy-${round}`);
      await mkdir(copy);
      await copyTree({ from, to: copy });
      const said = execFileSync('find', [copy, '-type', 'f', '-exec', 'cat', '{}', '+'], { encoding: 'utf8' });
      expect(said).not.toContain('secret');
    }
  } finally {
    stop.abort();
    await swapper;
  }
});

test('a directory that is named as left out is left out, also through a copy into itself', async () => {
  const inside = join(from, '.state', 'copy');
  await mkdir(inside, { recursive: true });
  await writeFile(join(from, 'file'), 'x');
  await copyTree({ from, to: inside, except: [join(from, '.state'), join(root, 'none')] });
  expect(await readdir(inside)).toEqual(['file']);
});

test.each([
  ['bytes', { bytes: 10, entries: 10, depth: 10 }, /more than 10 bytes/],
  ['entries', { bytes: 1000, entries: 2, depth: 10 }, /more than 2 files/],
  ['depth', { bytes: 1000, entries: 10, depth: 1 }, /more than 1 directories deep/],
])('[inv-19] a tree of too many %s is refused', async (_, bounds, message) => {
  await mkdir(join(from, 'a', 'b'), { recursive: true });
  await writeFile(join(from, 'a', 'b', 'file'), 'eleven byte');
  const refused = copyTree({ from, to, bounds });
  await expect(refused).rejects.toBeInstanceOf(TreeCopyRefused);
  await expect(refused).rejects.toThrow(message);
});

test('a link is no directory to copy from', async () => {
  await symlink(from, join(root, 'link'));
  await expect(copyTree({ from: join(root, 'link'), to })).rejects.toThrow('not a directory');
});
