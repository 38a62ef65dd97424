import { spawnSync } from 'node:child_process';
import { access, mkdir, mkdtemp, open, readdir, readlink, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashArtifacts, MAX_ARTIFACT_BYTES } from '../../activities/executor/artifacts.ts';
import { exportCommit, type ExportedTree } from '../../activities/executor/checkout.ts';
import { makeRunDirectory, removeLeftRuns } from '../../activities/executor/run-directory.ts';
import { treeAfter } from '../../activities/executor/tree-after.ts';
import { openBench, type Bench } from './support/bench.ts';
import { eventually } from './support/processes.ts';
import { publishTree, type Objects, type RawEntry } from './support/raw-tree.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

const never = new AbortController().signal;

/** What a command can make with mkdir and chdir alone, and no path can name: 300 directories of 20 characters. */
const DEEP = [
  'import os',
  'for _ in range(300):',
  "    os.mkdir('d' * 20)",
  "    os.chdir('d' * 20)",
  "open('bottom', 'w').close()",
  '',
].join('\n');

function makeDeep(directory: string): void {
  const { status, stderr } = spawnSync('python3', ['-c', DEEP], { cwd: directory, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

describe('the removal of a run', () => {
  it('[inv-19] copes with a tree deeper than a path can be, so that a failed test stays a failed test', async () => {
    const commit = await bench.publish({ Makefile: 'test:\n\t@python3 deep.py; exit 1\n', 'deep.py': DEEP });
    const report = await bench.run(commit, ['make', 'test']);
    expect(report).toMatchObject({ outcome: 'completed', exit_code: 2 });
    expect(await readdir(bench.context.runs)).toEqual([]);
  });

  it('copes with it where a killed executor left it, and with directories that were closed', async () => {
    const parent = join(bench.directory, 'left');
    const { work } = await makeRunDirectory(parent);
    makeDeep(work);
    await mkdir(join(work, 'closed', 'below'), { recursive: true });
    spawnSync('chmod', ['000', join(work, 'closed', 'below'), join(work, 'closed')]);
    await removeLeftRuns(parent);
    expect(await readdir(parent)).toEqual([]);
  });

  it('follows no link', async () => {
    const kept = await mkdtemp(join(bench.directory, 'kept-'));
    await writeFile(join(kept, 'file'), 'kept');
    const directory = await makeRunDirectory(join(bench.directory, 'linked'));
    await symlink(kept, join(directory.work, 'link'));
    await directory.remove();
    await access(join(kept, 'file'));
    await expect(access(directory.path)).rejects.toThrow('ENOENT');
  });

  it('[inv-19] that fails keeps neither a report back nor an executor from starting', () => {
    const module = new URL('../../activities/executor/run-directory.ts', import.meta.url).href;
    // What something is mounted on cannot be removed, whoever asks. The mount ends with its namespace.
    const code = [
      `const { makeRunDirectory, removeLeftRuns } = await import(${JSON.stringify(module)});`,
      `const { execFileSync } = await import('node:child_process');`,
      `const { access } = await import('node:fs/promises');`,
      `const parent = ${JSON.stringify(join(bench.directory, 'stuck'))};`,
      'const directory = await makeRunDirectory(parent);',
      `execFileSync('mount', ['-t', 'tmpfs', 'none', directory.work]);`,
      'await directory.remove(); await removeLeftRuns(parent); await access(directory.work);',
      `console.log('still here');`,
    ].join('\n');
    const namespace = ['--user', '--map-root-user', '--mount', '--'];
    const node = [process.execPath, '--input-type=module', '--eval', code];
    const { stdout, stderr } = spawnSync('unshare', [...namespace, ...node], { encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: 'still here\n', stderr: '' });
  });
});

const named = (id: string, type: 'blob' | 'tree', count: number): readonly RawEntry[] =>
  Array.from({ length: count }, (_, index) => ({ type, id, name: `f${index}` }));

describe('a commit that is small to keep and large to write out', () => {
  it.each<[string, string, (objects: Objects) => Promise<string>]>([
    [
      'more bytes than are exported',
      '104 files of 2181038080 bytes together; at most 200000 files and 2147483648 bytes',
      async ({ blob, tree }) => tree(named(await blob(Buffer.alloc(20 * 1024 * 1024)), 'blob', 104)),
    ],
    [
      'more files than are exported',
      '200500 files of 0 bytes together; at most 200000 files',
      async ({ blob, tree }) => tree(named(await tree(named(await blob(Buffer.alloc(0)), 'blob', 401)), 'tree', 500)),
    ],
    [
      'more files than can be listed',
      'git said more than',
      async ({ blob, tree }) => {
        let id = await tree(named(await blob(Buffer.alloc(0)), 'blob', 10));
        for (let level = 0; level < 9; level += 1) id = await tree(named(id, 'tree', 10));
        return id;
      },
    ],
  ])('[inv-19] is not exported when it has %s', async (_, reason, make) => {
    const commit = await publishTree(bench, make);
    const destination = await mkdtemp(join(bench.directory, 'large-'));
    const exporting = exportCommit(bench.context.source, commit, destination, never);
    const refusal = await exporting.catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'failed_to_start' });
    expect(String(refusal)).toContain(reason);
    expect(await readdir(destination)).toEqual([]);
  });

  it('[inv-19] is answered with the limit', async () => {
    const commit = await publishTree(bench, async ({ blob, tree }) =>
      tree(named(await blob(Buffer.alloc(20 * 1024 * 1024)), 'blob', 103)),
    );
    const report = await bench.run(commit, ['make', 'test']);
    expect(report).toMatchObject({ outcome: 'failed_to_start', exit_code: null });
    expect(report.reason).toContain('2147483648 bytes are exported');
  });
});

/** A file of this size in which nothing was written. */
async function makeSparse(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w');
  await file.truncate(bytes);
  await file.close();
}

async function exported(files: Readonly<Record<string, string>>): Promise<{ directory: string; tree: ExportedTree }> {
  const commit = await bench.publish(files);
  const directory = await realpath(await mkdtemp(join(bench.directory, 'export-')));
  return { directory, tree: await exportCommit(bench.context.source, commit, directory, never) };
}

describe('what is read after a run', () => {
  it('[inv-19] is nothing of a tracked file that grew large: it has changed, whatever is in it', async () => {
    const { directory, tree } = await exported({ a: 'a', b: 'b' });
    // Reading it would take days.
    await makeSparse(join(directory, 'a'), 8 * 1024 ** 4);
    const after = await treeAfter(directory, tree, never);
    expect(after).toMatch(/^[0-9a-f]{40}$/);
    expect(after).not.toBe(tree.tree);
  });

  it('[inv-19] is nothing of an artifact that is larger than all of them may be together', async () => {
    const directory = await realpath(await mkdtemp(join(bench.directory, 'artifacts-')));
    await writeFile(join(directory, 'small'), 'small');
    await makeSparse(join(directory, 'large'), MAX_ARTIFACT_BYTES);
    const { found, missing } = await hashArtifacts(directory, ['small', 'large', 'small'], never);
    expect(found.map(({ path }) => path)).toEqual(['small', 'small']);
    expect(missing).toEqual(['large']);
  });

  it('ends when the run is cancelled, in the middle of a file too', async () => {
    const directory = await realpath(await mkdtemp(join(bench.directory, 'cancelled-')));
    await makeSparse(join(directory, 'large'), MAX_ARTIFACT_BYTES);
    const stop = new AbortController();
    const hashing = hashArtifacts(directory, ['large'], stop.signal);
    const refused = expect(hashing).rejects.toThrow('abort');
    await eventually(isRead, (yes) => yes);
    stop.abort();
    await refused;
    const { directory: work, tree } = await exported({ a: 'a' });
    await expect(treeAfter(work, tree, AbortSignal.abort())).rejects.toThrow('abort');
  });

  it('[inv-19] leaves a run cancelled that was asked to end while its files were looked at', async () => {
    const commit = await bench.publish({ Makefile: `test:\n\t@truncate -s ${MAX_ARTIFACT_BYTES} large\n` });
    const stop = new AbortController();
    const running = bench.run(commit, ['make', 'test'], { artifacts: ['large'], cancellation: stop.signal });
    await eventually(isRead, (yes) => yes);
    stop.abort();
    expect(await running).toMatchObject({
      outcome: 'cancelled',
      exit_code: null,
      // It had ended by itself.
      signal: null,
      missing_artifacts: ['large'],
      tree_after: null,
      tests: 'unknown',
    });
  });
});

/** True while this process has the file `large` open: it is being hashed. */
async function isRead(): Promise<boolean> {
  const descriptors = await readdir('/proc/self/fd');
  const files = await Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return files.some((file) => file.startsWith(bench.directory) && file.endsWith('/large'));
}
