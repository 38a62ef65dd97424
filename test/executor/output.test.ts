import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openBench, type Bench } from './support/bench.ts';
import { eventually } from './support/processes.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
beforeEach(() => {
  bench.gateway.chunks.clear();
  bench.gateway.failWith = null;
  bench.gateway.refused = 0;
});
afterAll(() => bench.close());

const project = (script: string) => ({ Makefile: 'test:\n\t@sh run.sh\n', 'run.sh': script });
const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const KEPT = 1024 * 1024;

describe('output', () => {
  it('[inv-19] of 50 MB is counted and hashed whole, and kept by its head and tail', async () => {
    const commit = await bench.publish(project('seq 1 7000000'));
    const report = await bench.run(commit, ['make', 'test']);
    const whole = Buffer.from(Array.from({ length: 7_000_000 }, (_, index) => `${index + 1}\n`).join(''));
    const kept = Buffer.concat([whole.subarray(0, KEPT / 2), whole.subarray(-KEPT / 2)]);
    expect(report.stdout).toEqual({
      bytes: whole.length,
      stored: KEPT,
      truncated: true,
      stored_digest: sha256(kept),
      full_digest: sha256(whole),
      chunks: bench.gateway.chunks.size,
      chunks_failed: 0,
    });
    expect(bench.gateway.stored('stdout').equals(kept)).toBe(true);
  });

  it('[inv-19] of one line of 10 MB, binary, on both streams is kept as it came', async () => {
    const commit = await bench.publish(
      project('head -c 10000000 /dev/zero | tr "\\0" "\\377"; head -c 10000000 /dev/zero >&2'),
    );
    const report = await bench.run(commit, ['make', 'test']);
    expect(report).toMatchObject({
      exit_code: 0,
      tests: 'unknown',
      stdout: { bytes: 10_000_000, stored: KEPT, full_digest: sha256(Buffer.alloc(10_000_000, 0xff)) },
      stderr: { bytes: 10_000_000, stored: KEPT, full_digest: sha256(Buffer.alloc(10_000_000, 0)) },
    });
  });

  it('is seen while the command runs', async () => {
    const commit = await bench.publish(project('echo first; sleep 5; echo last'));
    const running = bench.run(commit, ['make', 'test']);
    await eventually(
      () => bench.gateway.stored('stdout').toString(),
      (text) => text === 'first\n',
      4.5,
    );
    await running;
    expect(bench.gateway.stored('stdout').toString()).toBe('first\nlast\n');
  });

  it('[inv-18] waits for a gateway that is away, and is then all there', async () => {
    const commit = await bench.publish(project('echo one; sleep 0.3; echo two; sleep 1; echo three'));
    const running = bench.run(commit, ['make', 'test']);
    await eventually(
      () => bench.gateway.chunks.size,
      (size) => size > 0,
    );
    bench.gateway.failWith = 503;
    await eventually(
      () => bench.gateway.refused,
      (refused) => refused >= 4,
    );
    bench.gateway.failWith = null;
    expect(await running).toMatchObject({ outcome: 'completed', stdout: { chunks_failed: 0 } });
    expect(bench.gateway.stored('stdout').toString()).toBe('one\ntwo\nthree\n');
  });

  it('[inv-07] says what was lost when the gateway does not come back', async () => {
    const commit = await bench.publish(project('echo one; sleep 0.3; echo two'));
    const running = bench.run(commit, ['make', 'test'], { context: { outputPatienceMs: 500 } });
    await eventually(
      () => bench.gateway.chunks.size,
      (size) => size > 0,
    );
    bench.gateway.failWith = 503;
    const report = await running;
    expect(report.stdout.chunks_failed).toBeGreaterThan(0);
    expect(report).toMatchObject({ outcome: 'completed', stdout: { bytes: 8 } });
  });

  it('[inv-06] is acknowledged whole before the run is reported', async () => {
    const commit = await bench.publish(project('seq 1 100000'));
    const report = await bench.run(commit, ['make', 'test']);
    expect(sha256(bench.gateway.stored('stdout'))).toBe(report.stdout.stored_digest);
  });
});

describe('the start of a run', () => {
  it('is said to the gateway first, by boot and workflow', async () => {
    bench.gateway.starts.length = 0;
    const commit = await bench.publish(project('true'));
    await bench.run(commit, ['make', 'test']);
    expect(bench.gateway.starts).toEqual([{ bootId: 'boot-1', workflowId: 'verify/local/T-1/x/1' }]);
  });

  it('[inv-09] is given up when the gateway refuses it: nothing runs', async () => {
    const commit = await bench.publish(project('echo ran'));
    bench.gateway.failWith = 409;
    await expect(bench.run(commit, ['make', 'test'])).rejects.toMatchObject({ code: 'not_allowed' });
    expect(bench.gateway.chunks.size).toBe(0);
  });
});

describe('artifacts', () => {
  it('are hashed after the run, and named when they are missing', async () => {
    const commit = await bench.publish(project('mkdir -p out; printf hello > out/a.txt'));
    const report = await bench.run(commit, ['make', 'test'], { artifacts: ['out/a.txt', 'out/b.txt'] });
    expect(report.artifacts).toEqual([{ path: 'out/a.txt', sha256: sha256(Buffer.from('hello')), bytes: 5 }]);
    expect(report.missing_artifacts).toEqual(['out/b.txt']);
  });

  it('[inv-15] that are links, lead through links, or are no files are missing', async () => {
    const commit = await bench.publish(
      project('ln -s /etc/passwd link; ln -s /etc dir; mkfifo pipe; mkdir folder; ln -s run.sh own'),
    );
    const artifacts = ['link', 'dir/passwd', 'pipe', 'folder', 'own'];
    const report = await bench.run(commit, ['make', 'test'], { artifacts });
    expect(report).toMatchObject({ outcome: 'completed', artifacts: [], missing_artifacts: artifacts });
  });
});
