import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exportCommit } from '../../activities/executor/checkout.ts';
import { treeAfter } from '../../activities/executor/tree-after.ts';
import { BEARER, openBench, PAIR, TENANT, type Bench } from './support/bench.ts';
import { publishTree } from './support/raw-tree.ts';
import { git, publish, writeFiles } from './support/repository.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
beforeEach(() => bench.gateway.chunks.clear());
afterAll(() => bench.close());

const never = new AbortController().signal;
let exports = 0;

async function exported(commit: string) {
  exports += 1;
  const directory = join(bench.directory, `export-${exports}`);
  await mkdir(directory);
  return { directory, tree: await exportCommit(bench.context.source, commit, directory, never) };
}

describe('the export of a commit', () => {
  it('[inv-17] is the bytes that were committed: no filter, no conversion, nothing left out', async () => {
    const marker = join(bench.directory, 'filter-ran');
    const commit = await bench.publish({
      '.gitattributes':
        '*.txt filter=evil text eol=crlf ident\nsecret.md export-ignore\n*.u working-tree-encoding=UTF-16LE\n',
      '.gitconfig': `[filter "evil"]\n\tsmudge = touch ${marker}\n`,
      'a.txt': 'one\n$Id$\n',
      'secret.md': 'kept',
      // Two bytes, which git commits as the UTF-8 of the one character they are in UTF-16.
      'b.u': 'ab',
    });
    const { directory } = await exported(commit);
    expect(await readFile(join(directory, 'a.txt'), 'utf8')).toBe('one\n$Id$\n');
    expect(await readFile(join(directory, 'secret.md'), 'utf8')).toBe('kept');
    expect(await readFile(join(directory, 'b.u'), 'utf8')).toBe('\u6261');
    await expect(readFile(marker)).rejects.toThrow('ENOENT');
  });

  it('[inv-17] would run a filter if git were configured to: the attributes are what a repository controls', async () => {
    const source = join(bench.directory, 'filtered');
    const marker = join(bench.directory, 'plain-filter-ran');
    await publish(source, join(bench.directory, 'filtered.git'), { '.gitattributes': '* filter=evil\n', a: 'x' });
    await git(source, 'config', 'filter.evil.smudge', `touch ${marker}; cat`);
    await rm(join(source, 'a'));
    await git(source, 'checkout', '--', 'a');
    expect(await readFile(marker, 'utf8')).toBe('');
  });

  it('[inv-17] runs no hook, though its own repository be given one', async () => {
    const commit = await bench.publish({ a: 'first' });
    await exported(commit);
    const hooks = join(bench.context.source.directory, 'sha1.git', 'hooks');
    await mkdir(hooks, { recursive: true });
    const marker = join(bench.directory, 'hook-ran');
    for (const name of ['post-checkout', 'reference-transaction', 'post-index-change']) {
      await writeFile(join(hooks, name), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
    }
    await exported(await bench.publish({ a: 'second' }));
    await expect(readFile(marker)).rejects.toThrow('ENOENT');
    await rm(hooks, { recursive: true });
  });

  it('[inv-15] shows the bearer on no command line', async () => {
    const log = join(bench.directory, 'git-argv');
    const program = join(bench.directory, 'recording-git');
    await writeFile(program, `#!/bin/sh\necho "$@" >> ${log}\nexec ${bench.context.probe.git} "$@"\n`);
    await chmod(program, 0o755);
    const commit = await bench.publish({ a: 'third' });
    const source = { ...bench.context.source, git: { ...bench.context.source.git, program } };
    const directory = join(bench.directory, 'recorded');
    await mkdir(directory);
    await exportCommit(source, commit, directory, never);
    const argv = await readFile(log, 'utf8');
    expect(argv).toContain('fetch');
    expect(argv).not.toContain(BEARER);
    expect([...bench.gateway.authorizations]).toContain(`Bearer ${BEARER}`);
  });

  it('keeps links as links, whatever they name', async () => {
    const commit = await bench.publish({
      link: { linkTo: '/etc/passwd' },
      'run.sh': 'cat link; readlink link\n',
      Makefile: 'test:\n\t@sh run.sh\n',
    });
    const report = await bench.run(commit, ['make', 'test']);
    // Read inside, where that file is the sandbox's own.
    expect(bench.gateway.stored('stdout').toString()).toBe('run:x:1000:1000:run:/home/run:/bin/sh\n/etc/passwd\n');
    expect(report.outcome).toBe('completed');
  });

  it('works for a repository of SHA-256 objects, and for a commit without files', async () => {
    const source = join(bench.directory, 'sha256');
    await mkdir(source);
    await git(source, 'init', '--quiet', '--object-format=sha256');
    await writeFiles(source, { 'd/a': 'x' });
    await git(source, 'add', '--all');
    await git(source, 'commit', '--quiet', '--message=one');
    const bare = join(bench.directory, 'repositories', TENANT, `${PAIR}.git`);
    await rm(bare, { recursive: true, force: true });
    await git(source, 'clone', '--quiet', '--bare', source, bare);
    const commit = await git(source, 'rev-parse', 'HEAD');
    const { tree, directory } = await exported(commit);
    expect(tree.tree).toBe(await git(source, 'rev-parse', 'HEAD^{tree}'));
    expect(await treeAfter(directory, tree, never)).toBe(tree.tree);
    const empty = await exported(await bench.publish({}));
    expect(empty.tree.entries).toEqual([]);
  });
});

describe('the tree after a run', () => {
  const FILES = {
    'a.txt': 'a',
    'dir/b.txt': 'b',
    'dir-c': 'sorts between dir and dir/',
    'dir.d': 'sorts before dir/',
    'bin/run': { text: '#!/bin/sh\n', mode: 0o755 },
    link: { linkTo: 'a.txt' },
    'ünïcode/ß.txt': 'u',
  } as const;

  it('is the tree of the commit when no tracked file changed, whatever else was made', async () => {
    const { directory, tree } = await exported(await bench.publish(FILES));
    await writeFiles(directory, { 'new.txt': 'n', 'dir/target/out': 'o' });
    expect(await treeAfter(directory, tree, never)).toBe(tree.tree);
  });

  it.each<[string, (directory: string) => Promise<unknown>]>([
    ['other bytes', (directory) => writeFile(join(directory, 'dir/b.txt'), 'changed')],
    ['another mode', (directory) => chmod(join(directory, 'a.txt'), 0o755)],
    ['a file gone', (directory) => rm(join(directory, 'dir/b.txt'))],
    [
      'a file that became a link',
      async (directory) => {
        await rm(join(directory, 'a.txt'));
        await writeFiles(directory, { 'a.txt': { linkTo: 'dir-c' } });
      },
    ],
    [
      'a link that names another file',
      async (directory) => {
        await rm(join(directory, 'link'));
        await writeFiles(directory, { link: { linkTo: 'dir-c' } });
      },
    ],
  ])('is the one that git would make of %s', async (_, change) => {
    const commit = await bench.publish(FILES);
    const { directory, tree } = await exported(commit);
    await change(directory);
    // Asked of git in a copy of its own; the executor does not.
    const bare = join(bench.context.source.directory, 'sha1.git');
    await git(
      directory,
      `--git-dir=${bare}`,
      `--work-tree=${directory}`,
      '-c',
      'core.quotePath=false',
      'read-tree',
      commit,
    );
    await git(directory, `--git-dir=${bare}`, `--work-tree=${directory}`, 'add', '-u', '.');
    const wanted = await git(directory, `--git-dir=${bare}`, 'write-tree');
    await rm(join(bare, 'index'), { force: true });
    const after = await treeAfter(directory, tree, never);
    expect(after).toBe(wanted);
    expect(after).not.toBe(tree.tree);
  });

  it('is that of the commit for names that are not UTF-8, and the one that git would make when such a file changed', async () => {
    const name = Buffer.from([0xff, 0xfe]);
    const treeWith = (text: string) =>
      publishTree(bench, async ({ blob, tree }) => {
        const id = await blob(Buffer.from(text));
        const below = await tree([{ type: 'blob', id, name }]);
        return tree([
          { type: 'blob', id, name },
          { type: 'blob', id, name: '\u00ff' },
          { type: 'tree', id: below, name: Buffer.from([0xfe]) },
        ]);
      });
    const changed = await exported(await treeWith('other'));
    const { directory, tree } = await exported(await treeWith('bytes'));
    expect(await treeAfter(directory, tree, never)).toBe(tree.tree);
    const root = Buffer.from(`${directory}/`);
    for (const path of [name, Buffer.from('\u00ff'), Buffer.concat([Buffer.from([0xfe, 0x2f]), name])]) {
      await writeFile(Buffer.concat([root, path]), 'other');
    }
    expect(await treeAfter(directory, tree, never)).toBe(changed.tree.tree);
  });

  it('[inv-17] does not follow a directory that became a link', async () => {
    const { directory, tree } = await exported(await bench.publish(FILES));
    const elsewhere = join(bench.directory, 'elsewhere');
    await writeFiles(elsewhere, { 'b.txt': 'b' });
    await rm(join(directory, 'dir'), { recursive: true });
    await writeFiles(directory, { dir: { linkTo: elsewhere } });
    expect(await treeAfter(directory, tree, never)).not.toBe(tree.tree);
  });

  it('is said in the report, and a command that rewrites its tests is told by it', async () => {
    const commit = await bench.publish({ Makefile: 'test:\n\t@echo changed > a.txt\n', 'a.txt': 'a' });
    const report = await bench.run(commit, ['make', 'test']);
    expect(report.tree_after).toMatch(/^[0-9a-f]{40}$/);
    expect(report.tree_after).not.toBe((await exported(commit)).tree.tree);
  });
});
