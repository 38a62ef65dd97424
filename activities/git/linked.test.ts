/** Git directories that are kept elsewhere, whole or in part: read where that is safe, refused by name where it is not. */
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readRepositoryHead, writeBundle } from './bundle.ts';
import { findGitDirectories } from './git-directories.ts';
import { pairRepository } from './repository.ts';
import { startSandboxedGit } from './sandboxed-git.ts';

let all: string;
let root: string;
let seed: string;

function userGit(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const env = { PATH: process.env['PATH'] ?? '', HOME: all, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', [...identity, ...args], { cwd, env, encoding: 'utf8' }).trim();
}

beforeAll(() => {
  all = mkdtempSync(join(tmpdir(), 'portcullis-linked-'));
  seed = join(all, 'seed');
  mkdirSync(seed);
  userGit(seed, 'init', '-q', '-b', 'main');
  writeFileSync(join(seed, 'file'), 'first');
  userGit(seed, 'add', '.');
  userGit(seed, 'commit', '-qm', 'first');
  userGit(seed, 'repack', '-adq');
});
afterAll(() => rmSync(all, { recursive: true, force: true }));

let repo: string;
let dotGit: string;
beforeEach(() => {
  root = mkdtempSync(join(all, 'test-'));
  repo = join(root, 'repo');
  cpSync(seed, repo, { recursive: true });
  dotGit = join(repo, '.git');
});

/** Moves a part of the git directory elsewhere and leaves a link. */
function moveAway(part: string, to = join(root, 'elsewhere', part), text = to): string {
  mkdirSync(join(to, '..'), { recursive: true });
  renameSync(join(repo, part), to);
  symlinkSync(text, join(repo, part));
  return to;
}

/** Taken in whole; what it says is kept elsewhere. */
async function takenIn(path = repo): Promise<readonly string[]> {
  const head = await readRepositoryHead(path);
  const bundle = join(mkdtempSync(join(root, 'bundle-')), 'head.bundle');
  await writeBundle(head, bundle);
  const own = pairRepository(join(root, 'own'), 'local', 'local-1');
  await own.importBundle(bundle, head.headSha);
  expect(await own.treeOf(head.headSha)).toBe(userGit(path, 'rev-parse', 'HEAD^{tree}'));
  return head.directories.links.map(({ part, within }) => `${part} in ${within}`);
}

function refused(path: string, reason: string): Promise<void> {
  return expect(readRepositoryHead(path)).rejects.toMatchObject({
    code: 'repository_invalid',
    message: expect.stringContaining(reason) as string,
  });
}

describe('a checkout is taken in', () => {
  test('whose .git is a link, absolute, relative or through another link', async () => {
    const away = moveAway('.git', join(root, 'disk', 'repo.git'));
    expect(await takenIn()).toEqual([`.git in ${away}`]);
    symlinkSync('repo.git', join(root, 'disk', 'second'));
    rmSync(dotGit);
    symlinkSync('../disk/second', dotGit);
    expect(await takenIn()).toEqual([`.git in ${away}`]);
  });

  test('whose .git is a file that names a git directory, which says nothing of it', async () => {
    userGit(repo, 'init', '-q', `--separate-git-dir=${join(root, 'separate')}`);
    expect(lstatSync(dotGit).isFile()).toBe(true);
    expect(await takenIn()).toEqual([`.git in ${join(root, 'separate')}`]);
    symlinkSync('separate', join(root, 'link'));
    writeFileSync(dotGit, 'gitdir: ../link\n');
    expect(await takenIn()).toEqual([`.git in ${join(root, 'separate')}`]);
  });

  test('whose objects, or packs among them, are on another disk', async () => {
    const packs = moveAway('.git/objects/pack', join(root, 'packs'));
    const head = await readRepositoryHead(repo);
    expect(head.directories.lenders).toMatchObject([{ path: packs, holds: 'packs' }]);
    expect(await takenIn()).toEqual([]);
    moveAway('.git/objects', join(root, 'store'), '../../store');
    expect(await takenIn()).toEqual([`objects in ${root}`]);
  });

  test('whose parts are links into another one, as git-new-workdir leaves them', async () => {
    const parts = ['config', 'refs', 'logs/refs', 'objects', 'info', 'hooks', 'packed-refs', 'remotes', 'rr-cache'];
    const second = join(root, 'second');
    mkdirSync(join(second, '.git', 'logs'), { recursive: true });
    for (const part of parts) symlinkSync(join(dotGit, part), join(second, '.git', part));
    cpSync(join(dotGit, 'HEAD'), join(second, '.git', 'HEAD'));
    expect(existsSync(join(second, '.git', 'remotes'))).toBe(false);
    expect(await takenIn(second)).toEqual(['objects', 'refs', 'config'].map((part) => `${part} in ${dotGit}`));
    userGit(repo, 'pack-refs', '--all');
    expect(await takenIn(second)).toContain(`packed-refs in ${dotGit}`);
  });

  test("whose .git is a link to parts that are links again, as Android's repo leaves them", async () => {
    const project = moveAway('.git', join(root, '.repo', 'projects', 'a.git'), '../.repo/projects/a.git');
    const objects = join(root, '.repo', 'project-objects', 'a.git', 'objects');
    mkdirSync(join(objects, '..'), { recursive: true });
    renameSync(join(project, 'objects'), objects);
    symlinkSync('../../project-objects/a.git/objects', join(project, 'objects'));
    expect(await takenIn()).toEqual([`.git in ${project}`, `objects in ${join(objects, '..')}`]);
  });

  test('whose HEAD is a link, as git made them before it had symbolic refs', async () => {
    rmSync(join(dotGit, 'HEAD'));
    symlinkSync('refs/heads/main', join(dotGit, 'HEAD'));
    expect(readlinkSync(join(dotGit, 'HEAD'))).toBe('refs/heads/main');
    expect(await takenIn()).toEqual([]);
  });

  test('at the commit that was pinned, whatever is committed meanwhile', async () => {
    const head = await readRepositoryHead(repo);
    userGit(repo, 'commit', '-q', '--allow-empty', '-m', 'second');
    await writeBundle(head, join(root, 'x.bundle'));
    const own = pairRepository(join(root, 'own'), 'local', 'local-1');
    await own.importBundle(join(root, 'x.bundle'), head.headSha);
    expect(await own.hasCommit(head.headSha)).toBe(true);
  });
});

/** What must never be shown: private files in a directory of the same user. */
function privateDirectory(name: string): string {
  const path = join(root, 'home', name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'id_ed25519'), 'private');
  return path;
}

const asLink = (part: string, target: string) => {
  rmSync(join(repo, part), { recursive: true, force: true });
  symlinkSync(target, join(repo, part));
};

describe('[inv-15] [inv-17] a hostile checkout is refused by name', () => {
  test.each<[string, string, () => void]>([
    ['.git is a link to private files', 'no git directory', () => asLink('.git', privateDirectory('.ssh'))],
    ['.git is a link to /proc', 'no git directory', () => asLink('.git', '/proc/self')],
    ['.git is a link to the root of all, by /proc', 'no git directory', () => asLink('.git', '/proc/self/root')],
    ['.git is a link to nothing', 'leads nowhere', () => asLink('.git', join(root, 'nothing'))],
    ['.git is a link to itself', 'leads nowhere', () => asLink('.git', '.git')],
    [
      '.git is a link to private text',
      'names no directory',
      () => asLink('.git', join(privateDirectory('.ssh'), 'id_ed25519')),
    ],
    ['objects are a link to private files', 'no git object', () => asLink('.git/objects', privateDirectory('.ssh'))],
    [
      'objects are a link to private files in a directory of that name',
      'no git object',
      () => asLink('.git/objects', privateDirectory('objects')),
    ],
    [
      'packs are a link to private files',
      'no directory of git packs',
      () => asLink('.git/objects/pack', privateDirectory('pack')),
    ],
    ['refs are a link to private files', 'no such part', () => asLink('.git/refs', privateDirectory('.ssh'))],
    [
      'refs are a link to a directory of that name',
      'no such part',
      () => asLink('.git/refs', privateDirectory('refs')),
    ],
    ['refs are a ring of links', 'leads nowhere', () => asLink('.git/refs', 'refs')],
    [
      'config is a link to private text',
      'no such part',
      () => asLink('.git/config', join(privateDirectory('.ssh'), 'id_ed25519')),
    ],
    [
      'packed-refs are a link to text of that name outside of a git directory',
      'no such part',
      () => {
        writeFileSync(join(privateDirectory('x'), 'packed-refs'), 'private');
        asLink('.git/packed-refs', join(root, 'home', 'x', 'packed-refs'));
      },
    ],
    [
      'config is a pipe that nobody writes',
      'is no file',
      () => {
        rmSync(join(dotGit, 'config'));
        execFileSync('mkfifo', [join(dotGit, 'config')]);
      },
    ],
    [
      'a git directory is made around private files',
      'no such part',
      () => {
        const around = join(root, 'around');
        cpSync(dotGit, around, { recursive: true });
        rmSync(join(around, 'refs'), { recursive: true });
        symlinkSync(privateDirectory('refs'), join(around, 'refs'));
        asLink('.git/refs', join(around, 'refs'));
      },
    ],
  ])('when its %s', async (_, reason, make) => {
    make();
    await refused(repo, reason);
  });

  // Files of another user can only be made by root.
  test.runIf(process.getuid?.() === 0)("when it leads to another user's repository, by whatever link", async () => {
    const theirs = join(root, 'theirs');
    cpSync(seed, theirs, { recursive: true });
    for (const part of ['.git', '.git/objects', '.git/objects/pack', '.git/refs', '.git/config']) {
      chownSync(join(theirs, part), 65_534, 65_534);
    }
    for (const part of ['.git', '.git/objects', '.git/objects/pack', '.git/refs', '.git/config']) {
      rmSync(repo, { recursive: true });
      cpSync(seed, repo, { recursive: true });
      asLink(part, join(theirs, part));
      await refused(repo, 'belongs to another user');
    }
    rmSync(dotGit, { recursive: true });
    writeFileSync(dotGit, `gitdir: ${join(theirs, '.git')}\n`);
    await refused(repo, 'belongs to another user');
    rmSync(dotGit);
    symlinkSync(join(seed, '.git'), dotGit);
    lchownSync(dotGit, 65_534, 65_534);
    await refused(repo, 'belongs to another user');
  });

  test.each(['.git/objects', '.git/refs'])(
    'when %s is swapped for private files after it was looked at',
    async (part) => {
      const elsewhere = moveAway(part, join(root, 'elsewhere', '.git', part.slice('.git/'.length)));
      for (const name of ['HEAD', 'objects', 'refs']) {
        if (!existsSync(join(elsewhere, '..', name)))
          cpSync(join(seed, '.git', name), join(elsewhere, '..', name), { recursive: true });
      }
      const looked = await findGitDirectories(repo);
      expect(looked.links).toHaveLength(1);
      renameSync(elsewhere, join(root, 'aside'));
      symlinkSync(privateDirectory('.ssh'), elsewhere);
      const call = startSandboxedGit(looked, ['rev-parse', 'HEAD'], 10_000);
      call.stdout.resume();
      expect(await call.complaint).toContain('was replaced while it was read');
      expect(await call.code).toBe(1);
    },
  );
});
