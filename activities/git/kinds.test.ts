/** Kinds of repositories that there are: each is taken in, or refused by a reason that is right. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bundleOf, readRepositoryHead, writeBundle } from './bundle.ts';
import { pairRepository } from './repository.ts';

let all: string;
let seed: string;
let root: string;
let repo: string;

function userGit(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'protocol.file.allow=always'];
  const env = { PATH: process.env['PATH'] ?? '', HOME: all, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', [...identity, ...args], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
  }).trim();
}

beforeAll(() => {
  all = mkdtempSync(join(tmpdir(), 'portcullis-kinds-'));
  seed = join(all, 'seed');
  mkdirSync(join(seed, 'inner'), { recursive: true });
  userGit(seed, 'init', '-q', '-b', 'main');
  userGit(seed, 'config', 'uploadpack.allowFilter', 'true');
  for (const text of ['first', 'second', 'third']) {
    writeFileSync(join(seed, 'file'), text);
    writeFileSync(join(seed, 'inner', 'file'), `inner ${text}`);
    userGit(seed, 'add', '.');
    userGit(seed, 'commit', '-qm', text);
  }
});
afterAll(() => rmSync(all, { recursive: true, force: true }));
beforeEach(() => {
  root = mkdtempSync(join(all, 'test-'));
  repo = join(root, 'repo');
  cpSync(seed, repo, { recursive: true });
});

const own = () => pairRepository(join(root, 'own'), 'local', 'local-1');

async function takenIn(path = repo) {
  const head = await readRepositoryHead(path);
  const bundle = join(root, 'head.bundle');
  await writeBundle(head, bundle);
  await own().importBundle(bundle, head.headSha);
  expect(head.headSha).toBe(userGit(path, 'rev-parse', 'HEAD'));
  expect(await own().treeOf(head.headSha)).toBe(userGit(path, '--no-replace-objects', 'rev-parse', 'HEAD^{tree}'));
  return head;
}

function refused(path: string, reason: string): Promise<void> {
  return expect(readRepositoryHead(path)).rejects.toMatchObject({
    code: 'repository_invalid',
    message: expect.stringContaining(reason) as string,
  });
}

describe('is taken in:', () => {
  test.each<[string, () => unknown]>([
    [
      'a checkout of a tag, in a repository without branches',
      () => {
        userGit(repo, 'tag', '-a', '-m', 'v1', 'v1');
        userGit(repo, 'checkout', '-q', 'v1');
        userGit(repo, 'branch', '-qD', 'main');
      },
    ],
    [
      'a worktree of a bare repository',
      () => {
        userGit(root, 'clone', '-q', '--bare', repo, join(root, 'bare.git'));
        userGit(join(root, 'bare.git'), 'worktree', 'add', '-q', '--detach', join(root, 'tree'), 'HEAD^');
        return join(root, 'tree');
      },
    ],
    [
      'a linked worktree that names its repository relative to itself',
      () => {
        userGit(repo, 'worktree', 'add', '-q', '--detach', join(root, 'tree'), 'HEAD^');
        writeFileSync(join(root, 'tree', '.git'), 'gitdir: ../repo/.git/worktrees/tree\n');
        writeFileSync(join(repo, '.git', 'worktrees', 'tree', 'gitdir'), '../../../../tree/.git\n');
        return join(root, 'tree');
      },
    ],
    [
      'a repository whose work tree is configured to be elsewhere',
      () => void userGit(repo, 'config', 'core.worktree', '../..'),
    ],
    [
      'a sparse checkout',
      () => {
        userGit(repo, 'sparse-checkout', 'set', 'nothing');
      },
    ],
    [
      'a submodule, and the repository around it',
      () => {
        userGit(repo, 'submodule', '--quiet', 'add', seed, 'part');
        userGit(repo, 'commit', '-qm', 'part');
        return join(repo, 'part');
      },
    ],
    [
      'a repository with a submodule that is not there',
      () => {
        userGit(repo, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},gone`);
        userGit(repo, 'commit', '-qm', 'gone');
      },
    ],
    [
      'pointers of git-lfs, as they were committed',
      () => {
        writeFileSync(join(repo, '.gitattributes'), '*.bin filter=lfs diff=lfs merge=lfs -text\n');
        writeFileSync(
          join(repo, 'a.bin'),
          `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 1\n`,
        );
        userGit(repo, 'add', '.');
        userGit(repo, 'commit', '-qm', 'lfs');
      },
    ],
    [
      'file names of any bytes',
      () => {
        const blob = userGit(repo, 'rev-parse', 'HEAD:file');
        const line = Buffer.concat([
          Buffer.from(`100644 blob ${blob}\t`),
          Buffer.from([0xff, 0x0a, 0x22, 0x5c, 0x20]),
          Buffer.from('\0'),
        ]);
        const tree = execFileSync('git', ['mktree', '-z'], { cwd: repo, input: line, encoding: 'utf8' }).trim();
        userGit(repo, 'reset', '-q', '--soft', userGit(repo, 'commit-tree', '-m', 'odd', '-p', 'HEAD', tree));
      },
    ],
    [
      'a commit that is replaced for its own git: the real one',
      () => {
        userGit(repo, 'replace', 'HEAD', 'HEAD^');
      },
    ],
    [
      'a history that is grafted for its own git: the real one',
      () => {
        writeFileSync(join(repo, '.git', 'info', 'grafts'), `${userGit(repo, 'rev-parse', 'HEAD')}\n`);
      },
    ],
    [
      'a shallow clone with some history',
      () => {
        userGit(root, 'clone', '-q', '--depth=2', `file://${repo}`, join(root, 'shallow'));
        return join(root, 'shallow');
      },
    ],
    [
      'a repository with 50,000 refs, packed',
      () => {
        const head = userGit(repo, 'rev-parse', 'HEAD');
        const lines = Array.from({ length: 50_000 }, (_, n) => `${head} refs/tags/t${String(n).padStart(5, '0')}\n`);
        writeFileSync(
          join(repo, '.git', 'packed-refs'),
          `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`,
        );
      },
    ],
  ])('%s', async (_, make) => {
    const made = make();
    await takenIn(typeof made === 'string' && made !== '' ? made : repo);
  });

  test.each(['blob:none', 'tree:0'])(
    'a partial clone (%s): its commit, without the history that it lacks',
    async (filter) => {
      userGit(root, 'clone', '-q', `--filter=${filter}`, `file://${repo}`, join(root, 'partial'));
      expect(await takenIn(join(root, 'partial'))).toMatchObject({ baseSha: null });
    },
  );

  test.runIf(process.getuid?.() === 0)("another user's, which git itself would not touch", async () => {
    const commit = userGit(repo, 'rev-parse', 'HEAD');
    execFileSync('chown', ['-R', '65534:65534', repo]);
    expect(() => userGit(repo, 'rev-parse', 'HEAD')).toThrow('dubious ownership');
    const head = await readRepositoryHead(repo);
    await writeBundle(head, join(root, 'head.bundle'));
    await own().importBundle(join(root, 'head.bundle'), commit);
  });

  test('a history of merges, with the first parent as its base', async () => {
    userGit(repo, 'checkout', '-q', '-b', 'side', 'HEAD^');
    userGit(repo, 'commit', '-q', '--allow-empty', '-m', 'side');
    userGit(repo, 'checkout', '-q', 'main');
    userGit(repo, 'merge', '-q', '-m', 'merge', 'side');
    expect((await takenIn()).baseSha).toBe(userGit(repo, 'rev-parse', 'main^1'));
  });
});

describe('[inv-19] is refused by name:', () => {
  test('a repository without any commit, and a branch without one', async () => {
    userGit(root, 'init', '-q', 'empty');
    await refused(join(root, 'empty'), 'it has no commit yet');
    userGit(repo, 'checkout', '-q', '--orphan', 'new');
    await refused(repo, 'it has no commit yet');
  });

  test('a repository of a format that this git does not know', async () => {
    userGit(repo, 'config', 'core.repositoryFormatVersion', '1');
    userGit(repo, 'config', 'extensions.newThing', 'true');
    await refused(repo, 'newthing');
  });

  test('a partial clone that lacks files of the commit itself', async () => {
    userGit(root, 'clone', '-q', '--no-checkout', '--filter=blob:none', `file://${repo}`, join(root, 'partial'));
    await refused(join(root, 'partial'), 'lacks 2 objects of the commit itself');
  });

  test('a worktree that was moved by hand, with what mends it', async () => {
    userGit(repo, 'worktree', 'add', '-q', '--detach', join(root, 'tree'));
    cpSync(join(root, 'tree'), join(root, 'moved'), { recursive: true });
    await refused(join(root, 'moved'), 'git worktree repair');
  });

  test('a repository that lacks an object of its history, when it is packed', async () => {
    const lost = userGit(repo, 'rev-parse', 'HEAD^:file');
    rmSync(join(repo, '.git', 'objects', lost.slice(0, 2), lost.slice(2)));
    const head = await readRepositoryHead(repo);
    await expect(bundleOf(head).toArray()).rejects.toMatchObject({ code: 'repository_invalid' });
  });
});

describe('the control plane’s own repository', () => {
  const objects = () => join(own().path, 'objects');

  test('[inv-19] keeps nothing of a bundle that is refused, and of an import that was killed nothing for long', async () => {
    const head = await takenIn();
    const packs = readdirSync(join(objects(), 'pack')).toSorted();
    userGit(repo, 'commit', '-q', '--allow-empty', '-m', 'next');
    const next = await readRepositoryHead(repo);
    const bundle = Buffer.concat((await bundleOf(next).toArray()) as Buffer[]);
    bundle[bundle.length - 30] = (bundle[bundle.length - 30] ?? 0) ^ 0xff;
    writeFileSync(join(root, 'broken.bundle'), bundle);
    for (const name of ['incoming-import-old', 'incoming-import-now']) mkdirSync(join(objects(), name));
    writeFileSync(join(objects(), 'pack', 'tmp_pack_old'), 'x');
    const long = Date.now() / 1000 - 3 * 3600;
    for (const name of ['incoming-import-old', 'pack/tmp_pack_old']) utimesSync(join(objects(), name), long, long);
    await expect(own().importBundle(join(root, 'broken.bundle'), next.headSha)).rejects.toMatchObject({
      code: 'repository_invalid',
    });
    expect(readdirSync(join(objects(), 'pack')).toSorted()).toEqual(packs);
    expect(readdirSync(objects()).filter((name) => name.startsWith('incoming'))).toEqual(['incoming-import-now']);
    expect(await own().hasCommit(head.headSha)).toBe(true);
  });
});
