/** Commits made of objects, for trees that no checkout on this machine ever was. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PAIR, TENANT, type Bench } from './bench.ts';
import { git } from './repository.ts';

const run = promisify(execFile);

export interface RawEntry {
  readonly type: 'blob' | 'tree';
  readonly id: string;
  readonly name: string | Buffer;
}

export interface Objects {
  readonly blob: (bytes: Uint8Array) => Promise<string>;
  readonly tree: (entries: readonly RawEntry[]) => Promise<string>;
}

/** Publishes the tree that `make` answers as the pair's repository; the commit. */
export async function publishTree(bench: Bench, make: (objects: Objects) => Promise<string>): Promise<string> {
  const source = await mkdtemp(join(bench.directory, 'objects-'));
  await git(source, 'init', '--quiet');
  const fed = async (input: Uint8Array, ...args: readonly string[]) => {
    const running = run('git', args, { cwd: source });
    running.child.stdin?.end(input);
    return (await running).stdout.trim();
  };
  const tree = await make({
    blob: (bytes) => fed(bytes, 'hash-object', '-w', '--stdin'),
    tree: (entries) => fed(Buffer.concat(entries.map(lineOf)), 'mktree', '-z'),
  });
  const commit = await git(source, 'commit-tree', '-m', 'fixture', tree);
  await git(source, 'update-ref', 'HEAD', commit);
  const bare = join(bench.directory, 'repositories', TENANT, `${PAIR}.git`);
  await rm(bare, { recursive: true, force: true });
  await git(source, 'clone', '--quiet', '--bare', '--no-hardlinks', source, bare);
  return commit;
}

function lineOf({ type, id, name }: RawEntry): Buffer {
  const mode = type === 'tree' ? '040000' : '100644';
  return Buffer.concat([Buffer.from(`${mode} ${type} ${id}\t`), Buffer.from(name), Buffer.from([0])]);
}
