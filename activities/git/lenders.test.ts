/** Repositories that borrow objects: read whole where that is safe, refused by the directory's name where it is not. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRepositoryHead, writeBundle } from './bundle.ts';
import { findLenders } from './lenders.ts';
import { pairRepository } from './repository.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'portcullis-lenders-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function userGit(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const env = { PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', [...identity, ...args], { cwd, env, encoding: 'utf8' }).trim();
}

function repository(name: string): string {
  const path = join(root, name);
  mkdirSync(path);
  userGit(path, 'init', '-q', '-b', 'main');
  commit(path, 'first');
  return path;
}

function commit(path: string, text: string): void {
  writeFileSync(join(path, 'file'), text);
  userGit(path, 'add', '.');
  userGit(path, 'commit', '-qm', text);
}

const objectsOf = (path: string) => join(path, '.git', 'objects');

function borrow(path: string, line: string): void {
  appendFileSync(join(objectsOf(path), 'info', 'alternates'), `${line}\n`);
}

/** Taken in whole: the control plane's own copy has everything that the head reaches, and borrows nothing. */
async function takenIn(path: string): Promise<readonly string[]> {
  const head = await readRepositoryHead(path);
  const bundle = join(root, 'head.bundle');
  await writeBundle(head, bundle);
  const own = pairRepository(join(root, 'own'), 'local', 'local-1');
  await own.importBundle(bundle, head.headSha);
  expect(await own.treeOf(head.headSha)).toBe(userGit(path, 'rev-parse', 'HEAD^{tree}'));
  return head.directories.lenders.map((lender) => lender.path);
}

test('a shared clone is taken in whole, and says from where it borrows', async () => {
  const source = repository('source');
  userGit(root, 'clone', '-q', '--shared', source, join(root, 'shared'));
  expect(await takenIn(join(root, 'shared'))).toEqual([objectsOf(source)]);
});

test('a chain of two is followed, with the commits of each', async () => {
  const first = repository('first');
  userGit(root, 'clone', '-q', '--shared', first, join(root, 'second'));
  commit(join(root, 'second'), 'second');
  userGit(root, 'clone', '-q', '--shared', join(root, 'second'), join(root, 'third'));
  commit(join(root, 'third'), 'third');
  expect(await takenIn(join(root, 'third'))).toEqual([objectsOf(join(root, 'second')), objectsOf(first)]);
});

test.each<[string, (source: string) => string]>([
  ['relative to the object directory', () => '../../../source/.git/objects'],
  ['in quotes', (source) => `"${objectsOf(source).replace('source', '\\163ource')}"`],
  ['between comments and empty lines', (source) => `# a comment\n\n${objectsOf(source)}/`],
  ['through a link', () => join(root, 'link', 'objects')],
])('a reference %s is found as git finds it', async (_, line) => {
  const source = repository('source');
  symlinkSync(join(source, '.git'), join(root, 'link'));
  userGit(root, 'clone', '-q', '--reference', source, source, join(root, 'borrower'));
  const borrower = join(root, 'borrower');
  userGit(borrower, 'repack', '-adlq');
  writeFileSync(join(objectsOf(borrower), 'info', 'alternates'), `${line(source)}\n`);
  expect(userGit(borrower, 'rev-parse', 'HEAD^{tree}')).toMatch(/^[0-9a-f]{40}$/);
  expect(await takenIn(borrower)).toEqual([objectsOf(source)]);
});

test('a linked worktree of a shared clone borrows what its repository borrows', async () => {
  const source = repository('source');
  userGit(root, 'clone', '-q', '--shared', source, join(root, 'shared'));
  userGit(join(root, 'shared'), 'worktree', 'add', '-q', '--detach', join(root, 'linked'));
  expect(await takenIn(join(root, 'linked'))).toEqual([objectsOf(source)]);
});

test('a ring ends, each directory taken once', async () => {
  const [one, two] = [repository('one'), repository('two')];
  borrow(one, objectsOf(two));
  borrow(two, objectsOf(one));
  borrow(two, objectsOf(two));
  expect(await takenIn(one)).toEqual([objectsOf(two)]);
});

test('[inv-15] git is shown the object directory and not the repository around it', async () => {
  const source = repository('source');
  userGit(root, 'clone', '-q', '--shared', source, join(root, 'shared'));
  const { directories } = await readRepositoryHead(join(root, 'shared'));
  expect(directories.parts.directories.map(({ path }) => path)).toEqual([objectsOf(join(root, 'shared'))]);
  expect(directories.lenders).toMatchObject([{ path: objectsOf(source), borrows: false }]);
});

/** A directory that holds git objects as far as its first level goes. */
function objectDirectory(name: string, ...more: string[]): string {
  for (const part of ['pack', 'info', ...more]) mkdirSync(join(root, name, part), { recursive: true });
  return join(root, name);
}

test.each<[string, string, (path: string) => void]>([
  ['that is not there', 'is not there', (path) => borrow(path, join(root, 'nowhere'))],
  ['that is a file', 'is no directory', (path) => borrow(path, join(path, 'file'))],
  ['that holds no objects', 'is no git object directory', (path) => borrow(path, '/etc')],
  ['that is a whole repository', 'is no git object directory', (path) => borrow(path, join(path, '.git'))],
  [
    'with one file among its objects that git does not put there',
    'is no git object directory',
    (path) => borrow(path, objectDirectory('almost', 'private-notes')),
  ],
  [
    'behind a link to none',
    'is no git object directory',
    (path) => {
      symlinkSync('/etc', join(root, 'objects'));
      borrow(path, join(root, 'objects'));
    },
  ],
  [
    'that ends a chain of six',
    'levels',
    (path) => {
      const chain = [1, 2, 3, 4, 5, 6].map((n) => objectDirectory(`chain-${n}`));
      borrow(path, chain[0] ?? '');
      chain.slice(1).forEach((next, n) => writeFileSync(join(chain[n] ?? '', 'info', 'alternates'), next));
    },
  ],
  [
    'that is one of very many',
    'one more than 64',
    (path) => {
      for (let n = 0; n < 65; n += 1) borrow(path, objectDirectory(`many/${n}`));
    },
  ],
  [
    'whose name is no text',
    'no list',
    (path) => writeFileSync(join(objectsOf(path), 'info', 'alternates'), '\xff', 'latin1'),
  ],
  [
    'named in a file behind a link',
    'no list',
    (path) => {
      writeFileSync(join(root, 'list'), objectDirectory('listed'));
      symlinkSync(join(root, 'list'), join(objectsOf(path), 'info', 'alternates'));
    },
  ],
  ['named in a very long file', 'no list', (path) => borrow(path, `#${'x'.repeat(70_000)}`)],
])('[inv-17] [inv-19] a directory %s is refused by name', async (_, reason, make) => {
  const path = repository('hostile');
  make(path);
  await expect(readRepositoryHead(path)).rejects.toMatchObject({
    code: 'repository_invalid',
    message: expect.stringContaining(reason) as string,
  });
});

test("[inv-17] another user's objects are not borrowed", async () => {
  const [path, other] = [repository('hostile'), objectDirectory('private')];
  borrow(path, other);
  const owner = process.getuid?.() ?? 0;
  expect((await findLenders(objectsOf(path), owner)).lenders).toHaveLength(1);
  await expect(findLenders(objectsOf(path), owner + 1)).rejects.toThrow('belongs to another user');
});

test('[inv-17] a directory that another one replaced after it was looked at is not read', async () => {
  const [source, secret] = [repository('source'), repository('secret')];
  userGit(root, 'clone', '-q', '--shared', source, join(root, 'shared'));
  const head = await readRepositoryHead(join(root, 'shared'));
  renameSync(objectsOf(source), join(root, 'aside'));
  symlinkSync(objectsOf(secret), objectsOf(source));
  await expect(writeBundle(head, join(root, 'x.bundle'))).rejects.toThrow('was replaced while it was read');
});
