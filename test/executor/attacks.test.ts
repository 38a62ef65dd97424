/** Walks the attacks that are accepted and must be contained, neutralised or seen through, on the real tools. */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExecutorReport } from '../../schemas/verify/report.ts';
import { searchToolchains } from '../../activities/executor/toolchain-search.ts';
import { ATTACK_RUNS, attacksBy, type AttackRun } from '../support/command-attacks.ts';
import { openBench, type Bench } from './support/bench.ts';
import { git, writeFiles, type FileSpec } from './support/repository.ts';

const HERE = new Set((await searchToolchains()).tools.map(({ name }) => name));
const isHere = ({ argv: [tool = ''], needs = tool }: AttackRun) => HERE.has(tool) && HERE.has(needs);
/** Of tools that a machine does not have, nothing can be tried on it. */
const RUNS = Object.entries(ATTACK_RUNS).filter(([, run]) => isHere(run));

let bench: Bench;
let outside: string;
beforeAll(async () => {
  bench = await openBench();
  outside = join(bench.directory, 'outside');
  await mkdir(outside);
});
afterAll(() => bench.close());

interface Walked {
  readonly report: ExecutorReport;
  readonly said: string;
  /** Names of files that something made outside the copy. */
  readonly outside: readonly string[];
}

const placed = (text: string) => text.replaceAll('{outside}', outside);

function filesOf({ files }: AttackRun): Readonly<Record<string, FileSpec>> {
  return Object.fromEntries(
    Object.entries(files).map(([path, file]) => [
      path,
      typeof file === 'string' ? placed(file) : { ...file, text: placed(file.text) },
    ]),
  );
}

async function walk(name: string, attackRun: AttackRun): Promise<Walked> {
  bench.gateway.chunks.clear();
  const files = filesOf(attackRun);
  const report = attackRun.worktree
    ? await runInWorktree(name, attackRun.argv, files)
    : await runCommit(attackRun.argv, files);
  const said = bench.gateway.stored('stdout').toString() + bench.gateway.stored('stderr').toString();
  return { report, said, outside: await readdir(outside) };
}

async function runCommit(argv: readonly string[], files: Readonly<Record<string, FileSpec>>): Promise<ExecutorReport> {
  return bench.run(await bench.publish(files), argv, { timeoutSecs: 50 });
}

async function runInWorktree(
  name: string,
  argv: readonly string[],
  files: Readonly<Record<string, FileSpec>>,
): Promise<ExecutorReport> {
  const worktree = join(bench.directory, name);
  await writeFiles(worktree, files);
  return bench.run(await bench.publish({}), argv, { change: { cwd: 'worktree' }, context: { worktree } });
}

describe.each(RUNS)('[inv-02] %s', (name, attackRun) => {
  let walked: Walked;
  beforeAll(async () => {
    walked = await walk(name, attackRun);
  });

  it('ends as it must', () => {
    const { exit_code, tests } = attackRun.expect;
    expect(walked.report, walked.said).toMatchObject({ outcome: 'completed', exit_code, tests });
    expect(walked.outside).toEqual([]);
  });

  it.each(attacksBy('tool').filter(({ run }) => run === name))('row $row: $attempt is $answer', ({ says, never }) => {
    if (says !== undefined) expect(walked.said).toContain(says);
    if (never !== undefined) expect([walked.said, ...walked.outside].join('\n')).not.toContain(never);
    expect(walked.report.sandbox).toMatchObject({ containment: 'bubblewrap', network: 'none' });
  });
});

describe('the tools of this machine', () => {
  it('are at least those that every machine has which runs this', () => {
    expect([...HERE]).toEqual(expect.arrayContaining(['node', 'npm', 'make']));
    expect(RUNS.length).toBeGreaterThanOrEqual(8);
  });
});

describe('the attack of row 28', () => {
  it('works on whoever runs git in such a directory', async () => {
    const victim = join(bench.directory, 'victim');
    const marker = join(bench.directory, 'git-ran');
    await writeFiles(victim, { a: 'x' });
    await git(victim, 'init', '--quiet');
    await git(victim, 'config', 'core.fsmonitor', `touch ${marker}; true`);
    await git(victim, 'status').catch(() => '');
    expect(await readdir(bench.directory)).toContain('git-ran');
  });
});
