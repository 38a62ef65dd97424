import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { contentDigest } from '../../schemas/digest.ts';
import { readRepositoryHead, writeBundle } from './bundle.ts';
import { findGitDirectories } from './git-directories.ts';
import { pairRepository } from './repository.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'portcullis-git-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const IDENTITY = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

function userGit(cwd: string, ...args: string[]): string {
  const env = { ...IDENTITY, PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', args, { cwd, env, encoding: 'utf8' }).trim();
}

function repository(name: string): string {
  const path = join(root, name);
  mkdirSync(path);
  userGit(path, 'init', '-q', '-b', 'main');
  writeFileSync(join(path, 'package.json'), '{"scripts":{"test":"exit 1"}}');
  userGit(path, 'add', '.');
  userGit(path, 'commit', '-qm', 'first');
  writeFileSync(join(path, 'package.json'), '{"scripts":{"test":"exit 0"}}');
  userGit(path, 'commit', '-qam', 'second');
  return path;
}

async function imported(path: string) {
  const head = await readRepositoryHead(path);
  const bundle = join(root, 'head.bundle');
  await writeBundle(head, bundle);
  const own = pairRepository(join(root, 'own'), 'local', 'local-1');
  await own.importBundle(bundle, head.headSha);
  return { head, own };
}

test('a commit taken in is the one that was pinned, with its tree and its parent', async () => {
  const path = repository('repo');
  const { head, own } = await imported(path);
  expect(head.headSha).toBe(userGit(path, 'rev-parse', 'HEAD'));
  expect(head.baseSha).toBe(userGit(path, 'rev-parse', 'HEAD^'));
  expect(await own.treeOf(head.headSha)).toBe(userGit(path, 'rev-parse', 'HEAD^{tree}'));
  expect(await own.hasCommit('0'.repeat(40))).toBe(false);
});

test('definition files are digested at base and head, and a missing one says so', async () => {
  const { head, own } = await imported(repository('repo'));
  const digests = await own.definitions(['.npmrc', 'package.json'], head.baseSha, head.headSha);
  expect(digests).toEqual([
    { path: '.npmrc', base_digest: null, head_digest: null },
    {
      path: 'package.json',
      base_digest: contentDigest(Buffer.from('{"scripts":{"test":"exit 1"}}')),
      head_digest: contentDigest(Buffer.from('{"scripts":{"test":"exit 0"}}')),
    },
  ]);
});

test('a linked worktree, a detached head and a directory inside the checkout are read as git reads them', async () => {
  const path = repository('repo');
  userGit(path, 'worktree', 'add', '-q', '--detach', join(root, 'linked'), 'HEAD^');
  mkdirSync(join(root, 'linked', 'inner'));
  const { head } = await imported(join(root, 'linked', 'inner'));
  expect(head.headSha).toBe(userGit(path, 'rev-parse', 'HEAD^'));
  expect(head.baseSha).toBeNull();
});

test('[inv-17] what a repository configures does not run outside the sandbox when its head is read', async () => {
  const path = repository('repo');
  const marker = join(root, 'ran');
  const script = join(path, 'evil.sh');
  writeFileSync(script, `#!/bin/sh\ntouch ${marker}\n`);
  chmodSync(script, 0o755);
  for (const key of ['core.fsmonitor', 'core.sshCommand', 'uploadpack.packObjectsHook', 'core.pager', 'core.editor']) {
    userGit(path, 'config', key, script);
  }
  userGit(path, 'config', 'core.hooksPath', path);
  writeFileSync(join(path, '.gitattributes'), '* filter=evil\n');
  userGit(path, 'config', 'filter.evil.clean', script);
  await imported(path);
  expect(existsSync(marker)).toBe(false);
  // The same configuration does run where git is called plainly: the guard is what stops it.
  userGit(path, 'status');
  expect(existsSync(marker)).toBe(true);
});

test('a shallow clone is taken in with the history that it has', async () => {
  const path = repository('repo');
  const shallow = join(root, 'shallow');
  userGit(root, 'clone', '-q', '--depth=1', `file://${path}`, shallow);
  const { head, own } = await imported(shallow);
  expect(head.headSha).toBe(userGit(path, 'rev-parse', 'HEAD'));
  expect(head.baseSha).toBeNull();
  expect(await own.treeOf(head.headSha)).toBe(userGit(path, 'rev-parse', 'HEAD^{tree}'));
});

test('a SHA-256 repository, a bare one and one named by its git directory are read like any other', async () => {
  const path = join(root, 'sha256');
  mkdirSync(path);
  userGit(path, 'init', '-q', '--object-format=sha256');
  writeFileSync(join(path, 'a'), 'a');
  userGit(path, 'add', '.');
  userGit(path, 'commit', '-qm', 'first');
  const { head } = await imported(join(path, '.git'));
  expect(head).toMatchObject({ path, headSha: userGit(path, 'rev-parse', 'HEAD') });
  userGit(root, 'clone', '-q', '--bare', path, join(root, 'bare.git'));
  expect((await readRepositoryHead(join(root, 'bare.git'))).headSha).toBe(head.headSha);
});

test('[inv-17] a partial clone starts no transport of its choice', async () => {
  const path = repository('repo');
  const marker = join(path, '.git', 'ran');
  const helper = join(path, '.git', 'helper');
  writeFileSync(helper, `#!/bin/sh\ntouch ${marker}\n`);
  chmodSync(helper, 0o755);
  userGit(path, 'config', 'extensions.partialClone', 'origin');
  userGit(path, 'config', 'remote.origin.promisor', 'true');
  userGit(path, 'config', 'remote.origin.url', `ext::${helper}`);
  userGit(path, 'config', 'protocol.ext.allow', 'always');
  writeFileSync(join(path, '.git', 'HEAD'), `${'1'.repeat(40)}\n`);
  await expect(readRepositoryHead(path)).rejects.toMatchObject({ code: 'repository_invalid' });
  expect(existsSync(marker)).toBe(false);
  // Plainly called, git runs it: the guard is what stops it.
  expect(() => userGit(path, 'rev-parse', '--verify', 'HEAD^{commit}')).toThrow();
  expect(existsSync(marker)).toBe(true);
});

test.each<[string, (path: string) => void]>([
  ['of two lines', (path) => writeFileSync(join(path, '.git'), 'gitdir: g\nx\n')],
  ['that is a link', (path) => symlinkSync('/etc', join(path, '.git'))],
  ['that names a directory of nobody', (path) => writeFileSync(join(path, '.git'), 'gitdir: /etc\n')],
  ['that names the parent of everything', (path) => writeFileSync(join(path, '.git'), `gitdir: ${root}\n`)],
  [
    'that names a repository which does not know it',
    (path) => {
      const other = repository('other');
      userGit(other, 'worktree', 'add', '-q', '--detach', join(root, 'theirs'));
      writeFileSync(join(path, '.git'), `gitdir: ${other}/.git/worktrees/theirs\n`);
    },
  ],
])('[inv-15] [inv-17] a .git file %s shows no directory of this machine to git', async (_, make) => {
  const path = join(root, 'hostile');
  mkdirSync(path);
  make(path);
  await expect(readRepositoryHead(path)).rejects.toMatchObject({ code: 'repository_invalid' });
});

test('[inv-15] git sees of the git directory what names a commit and holds objects, and nothing beside it', async () => {
  const path = repository('repo');
  writeFileSync(join(path, '.git', 'secret'), 'x');
  const { parts } = await findGitDirectories(path);
  expect(parts.directories.map(({ path: shown }) => shown)).toEqual([
    join(path, '.git', 'objects'),
    join(path, '.git', 'refs'),
  ]);
  expect(parts.files.map(({ at }) => at)).toEqual(['HEAD', 'config']);
});

test('[inv-19] a bundle whose pack lacks objects of the commit is refused', async () => {
  const path = repository('repo');
  const head = await readRepositoryHead(path);
  const [blob] = userGit(path, 'rev-parse', 'HEAD:package.json').split('\n');
  const pack = execFileSync('git', ['pack-objects', '--stdout', '-q'], {
    cwd: path,
    input: userGit(path, 'rev-list', '--objects', 'HEAD')
      .split('\n')
      .map((line) => line.split(' ')[0])
      .filter((id) => id !== blob)
      .join('\n'),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const bundle = join(root, 'lacking.bundle');
  writeFileSync(bundle, Buffer.concat([Buffer.from(`# v2 git bundle\n${head.headSha} HEAD\n\n`), pack]));
  const own = pairRepository(join(root, 'own'), 'local', 'local-1');
  await expect(own.importBundle(bundle, head.headSha)).rejects.toMatchObject({ code: 'repository_invalid' });
});

test.each([
  ['a missing directory', () => join(root, 'nowhere'), 'no such directory'],
  ['a directory that is no repository', () => root, 'a git repository'],
])('[inv-19] refuses %s', async (_, path, reason) => {
  await expect(readRepositoryHead(path())).rejects.toMatchObject({
    code: 'repository_invalid',
    message: expect.stringContaining(reason) as string,
  });
});

test('[inv-19] refuses a repository without a commit, and a bundle without the commit that it should hold', async () => {
  const empty = join(root, 'empty');
  mkdirSync(empty);
  userGit(empty, 'init', '-q');
  await expect(readRepositoryHead(empty)).rejects.toMatchObject({ code: 'repository_invalid' });
  const path = repository('repo');
  await writeBundle(await readRepositoryHead(path), join(root, 'x.bundle'));
  const own = pairRepository(join(root, 'own'), 'local', 'local-1');
  await expect(own.importBundle(join(root, 'x.bundle'), 'f'.repeat(40))).rejects.toMatchObject({
    code: 'repository_invalid',
  });
});
