/**
 * What a run pays before and after its command: the sandbox beside a bare process, and the export of a commit beside git
 * alone, for a small and a large tree.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { exportCommit, type ExportedTree } from '../activities/executor/checkout.ts';
import { runContained } from '../activities/executor/contained-run.ts';
import { makeRunDirectory } from '../activities/executor/run-directory.ts';
import { limitedCommand, sandboxOptions } from '../activities/executor/sandbox.ts';
import { treeAfter } from '../activities/executor/tree-after.ts';
import { openBench, type Bench as ExecutorBench } from '../test/executor/support/bench.ts';
import { git } from '../test/executor/support/repository.ts';
import { compare, time, type Comparison, type Timing } from './support/compare.ts';
import type { Bench, BenchReport } from './support/report.ts';

export const sandboxBench: Bench = {
  name: 'sandbox',
  about: 'a command in the sandbox beside a bare one; the export of a commit beside git checkout',
  run,
};

const SMALL = { files: 20, rounds: 30 };
/** Below the number of loose objects at which git begins to pack by itself, in the background of what is timed. */
const LARGE = { files: 5_000, rounds: 5 };
const FILE_BYTES = 1024;
const FILES_A_DIRECTORY = 100;
const never = new AbortController().signal;

async function run(): Promise<BenchReport> {
  const executor = await openBench();
  try {
    const contained = await compareSandbox(executor);
    const trees = [await measureTree(executor, SMALL), await measureTree(executor, LARGE)];
    return {
      comparisons: [contained, ...trees.map(({ exported }) => exported)],
      timings: trees.map(({ compared }) => compared),
      goals: [],
      facts: { bubblewrap: executor.context.probe.version, 'bytes a file': FILE_BYTES },
    };
  } finally {
    await executor.close();
  }
}

/** `true`, with everything a run has around it: directories, pipes, namespaces, mounts, limits, the wait for the last process. */
function compareSandbox({ context }: ExecutorBench): Promise<Comparison> {
  const { probe, toolchains, etc, toolDirectory, reporter, policy } = context;
  const limits = { ...policy.policy.limits, timeoutSecs: 60 };
  const command = limitedCommand(limits, probe.prlimit, ['/usr/bin/env', 'true']);
  const [program = '', ...args] = command;
  return compare({
    name: 'a command that does nothing',
    ours: {
      name: 'in the sandbox',
      run: async () => {
        const directory = await makeRunDirectory(context.runs);
        const { work, report, pipes } = directory;
        const layout = {
          work,
          report,
          etc,
          toolDirectory,
          toolchains: toolchains.mounts,
          reporter,
          system: probe.system,
        };
        const ending = await runContained({
          bwrap: probe.bwrap,
          mkfifo: probe.mkfifo,
          options: sandboxOptions(layout, limits, policy.policy.environment),
          command,
          directory: pipes,
          timeoutMs: 60_000,
          graceMs: context.graceMs,
          cancellation: never,
          onOutput: () => {},
        });
        await directory.remove();
        if (ending.exitCode !== 0) throw new Error(`the sandbox did not run: ${ending.reason}`);
      },
    },
    peer: { name: 'spawned', run: () => once(spawn(program, args, { stdio: 'ignore' }), 'close') },
    rounds: 40,
  });
}

interface TreeMeasured {
  readonly exported: Comparison;
  readonly compared: Timing;
}

/** The commit is fetched before: what is timed is the export alone, into an empty directory. */
async function measureTree(executor: ExecutorBench, { files, rounds }: typeof SMALL): Promise<TreeMeasured> {
  const commit = await executor.publish(filesOf(files));
  const directory = join(executor.directory, `trees-${files}`);
  const { source } = executor.context;
  const kept = await fresh(directory);
  const tree: ExportedTree = await exportCommit(source, commit, kept, never);
  const bare = join(source.directory, 'sha1.git');
  const exported = await compare({
    name: `export of ${files} files`,
    ours: {
      name: 'portcullis',
      run: async () => exportCommit(source, commit, await fresh(directory), never),
    },
    peer: {
      name: 'git checkout',
      run: async () => {
        const destination = await fresh(directory);
        await git(destination, `--git-dir=${bare}`, `--work-tree=${destination}`, 'checkout', '-f', commit, '--', '.');
        await rm(join(bare, 'index'), { force: true });
      },
    },
    rounds,
    warmUp: 1,
  });
  const compared = await time(
    { name: `tree of ${files} files after a run`, run: () => treeAfter(kept, tree, never) },
    { rounds, warmUp: 1 },
  );
  await rm(directory, { recursive: true, force: true });
  return { exported, compared };
}

/** A new directory each time: removing an old one would be timed as well. */
async function fresh(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  return mkdtemp(join(directory, 'tree-'));
}

function filesOf(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const path = `d${Math.floor(index / FILES_A_DIRECTORY)}/f${index}.txt`;
      return [path, `${index}\n`.padEnd(FILE_BYTES, 'x')];
    }),
  );
}
