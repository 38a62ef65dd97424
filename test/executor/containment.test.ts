import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBench, type Bench } from './support/bench.ts';
import { eventually, processesWith, sleepMarker } from './support/processes.ts';
import { writeFiles } from './support/repository.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

/** Children that detach in every way a shell knows, and ignore what asks them to end. */
function detaching(marker: string, last: string): string {
  return [
    "trap '' TERM HUP INT",
    `setsid sleep ${marker} > /dev/null 2>&1 < /dev/null &`,
    `(setsid sh -c "trap '' TERM; sleep ${marker} & exec sleep ${marker}" &)`,
    `nohup sh -c "trap '' TERM HUP; exec sleep ${marker}" > /dev/null 2>&1 &`,
    `sh -c "trap '' TERM; sleep ${marker} & wait" &`,
    last,
    '',
  ].join('\n');
}

const MAKEFILE = 'test:\n\t@sh run.sh\n';
const project = (script: string) => ({ Makefile: MAKEFILE, 'run.sh': script });

describe('a command', () => {
  it('[inv-14] leaves no process behind when it runs out of time, however its children detached', async () => {
    const marker = sleepMarker();
    const commit = await bench.publish(project(detaching(marker, `sleep ${marker}`)));
    const report = await bench.run(commit, ['make', 'test'], { timeoutSecs: 1 });
    expect(await processesWith(marker)).toEqual([]);
    expect(report).toMatchObject({ outcome: 'timed_out', exit_code: null, tests: 'unknown' });
    expect(report.duration_ms).toBeGreaterThanOrEqual(1_000);
    expect(report.duration_ms).toBeLessThan(6_000);
  });

  it('[inv-14] leaves no process behind when it ends by itself', async () => {
    const marker = sleepMarker();
    const commit = await bench.publish(project(detaching(marker, 'exit 0')));
    const report = await bench.run(commit, ['make', 'test']);
    expect(await processesWith(marker)).toEqual([]);
    expect(report).toMatchObject({ outcome: 'completed', exit_code: 0 });
  });

  it('[inv-14] is called cancelled only when its last process is gone', async () => {
    const marker = sleepMarker();
    const commit = await bench.publish(project(detaching(marker, `sleep ${marker}`)));
    const stop = new AbortController();
    const running = bench.run(commit, ['make', 'test'], { cancellation: stop.signal });
    await eventually(
      () => processesWith(marker),
      (pids) => pids.length >= 5,
    );
    const asked = performance.now();
    stop.abort();
    const report = await running;
    expect(await processesWith(marker)).toEqual([]);
    expect(report).toMatchObject({ outcome: 'cancelled', exit_code: null, tests: 'unknown' });
    expect(performance.now() - asked).toBeLessThan(5_000);
  });

  it('is asked to end before it is ended', async () => {
    const marker = sleepMarker();
    const script = `trap 'echo asked; exit 0' TERM\nsleep ${marker} &\nwait\n`;
    const commit = await bench.publish(project(script));
    bench.gateway.chunks.clear();
    const report = await bench.run(commit, ['make', 'test'], { timeoutSecs: 1 });
    expect(bench.gateway.stored('stdout').toString()).toContain('asked');
    expect(report).toMatchObject({ outcome: 'timed_out', exit_code: null });
  });

  it('does not start when it was cancelled before', async () => {
    const commit = await bench.publish(project('touch ran\n'));
    const report = await bench.run(commit, ['make', 'test'], { cancellation: AbortSignal.abort() });
    expect(report).toMatchObject({ outcome: 'cancelled', duration_ms: 0 });
  });

  it('[inv-14] needs the pid namespace for that: ending its process group leaves detached children alive', async () => {
    const marker = sleepMarker();
    const directory = join(bench.directory, 'unsandboxed');
    await writeFiles(directory, { 'run.sh': detaching(marker, `sleep ${marker}`) });
    const child = spawn('sh', [join(directory, 'run.sh')], { detached: true, stdio: 'ignore' });
    const before = await eventually(
      () => processesWith(marker),
      (pids) => pids.length >= 5,
    );
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    const left = await eventually(
      () => processesWith(marker),
      (pids) => pids.length < before.length,
    );
    expect(left.length).toBeGreaterThan(0);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    await eventually(
      () => processesWith(marker),
      (pids) => pids.length === 0,
    );
  });
});

describe('a command that cannot be started', () => {
  it.each([
    ['the sandbox is missing', () => ({ probe: { ...bench.context.probe, bwrap: '/nonexistent/bwrap' } })],
    ['the sandbox cannot be set up', () => ({ reporter: '/nonexistent/reporter.mjs' })],
    ['its tool is not installed', () => ({ toolchains: { mounts: [], tools: [] } })],
  ])('says so when %s, and does not hang', async (_, change) => {
    const commit = await bench.publish(project('true\n'));
    const report = await bench.run(commit, ['make', 'test'], { context: change() });
    expect(report).toMatchObject({ outcome: 'failed_to_start', exit_code: null, tests: 'unknown' });
    expect(report.reason).not.toBe('');
  });

  it('stops waiting for its commit when it is cancelled', async () => {
    const commit = await bench.publish({ ...project('true\n'), unique: sleepMarker() });
    const context = { source: { ...bench.context.source, url: 'http://127.0.0.1:1/none.git' } };
    const report = await bench.run(commit, ['make', 'test'], { context, cancellation: AbortSignal.timeout(500) });
    expect(report).toMatchObject({ outcome: 'cancelled', duration_ms: 0 });
  });

  it('[inv-19] says so of a commit that the repository does not have', async () => {
    await bench.publish(project('true\n'));
    const report = await bench.run('0123456789abcdef0123456789abcdef01234567', ['make', 'test']);
    expect(report.outcome).toBe('failed_to_start');
    expect(report.reason).toContain('could not be exported');
  });
});
