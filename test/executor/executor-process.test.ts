import { Client, Connection } from '@temporalio/client';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { descendantsOf } from '../../activities/executor/process-table.ts';
import type { SignedAction } from '../../schemas/verify/action.ts';
import type { ExecutorReport } from '../../schemas/verify/report.ts';
import { executorReportSchema } from '../../schemas/verify/report.schema.ts';
import { openBench, type Bench } from './support/bench.ts';
import { eventually, processesWith, sleepMarker } from './support/processes.ts';
import { CLAIM_CODE, openWorkspace, QUEUE, type TestWorkspace } from './support/workspace.ts';

let connection: Connection;
let client: Client;
let bench: Bench;
let test: TestWorkspace;
let runs = 0;

beforeAll(async () => {
  const address = inject('temporalAddress');
  connection = await Connection.connect({ address });
  client = new Client({ connection });
  bench = await openBench();
  test = await openWorkspace(bench, 'process', { temporalAddress: address });
});
afterAll(async () => {
  await test.close();
  await bench.close();
  await connection.close();
});

async function start(signed: SignedAction) {
  runs += 1;
  return client.activity.start('runCommand', {
    id: `${QUEUE}/run-${runs}`,
    taskQueue: QUEUE,
    args: [signed],
    startToCloseTimeout: '60s',
    heartbeatTimeout: '5s',
    retry: { maximumAttempts: 1 },
  });
}

async function result(handle: Awaited<ReturnType<typeof start>>): Promise<ExecutorReport> {
  return executorReportSchema.parse(await handle.result());
}

const sleeping = (marker: string) => ({
  Makefile: `test:\n\t@trap '' TERM; (setsid sleep ${marker} &); sleep ${marker}\n`,
});

describe('an executor in its workspace', () => {
  it('runs a signed action, and what it reports passes the schema of the door', async () => {
    const commit = await bench.publish({ 'a.test.mjs': "import { test } from 'node:test'; test('a', () => {});" });
    const report = await result(await start(bench.action(commit, ['node', '--test'])));
    expect(report).toMatchObject({ outcome: 'completed', exit_code: 0, tests: { executed: 1 } });
    expect(report.sandbox.limits['processes']).toBeGreaterThan(0);
  });

  it('[inv-15] keeps its credential where only it can read it, and spends its claim code', async () => {
    const file = join(test.directory, 'private', 'grant.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await expect(readFile(join(test.directory, 'private', 'claim-code'))).rejects.toThrow('ENOENT');
    expect(await readFile(test.logFile, 'utf8')).not.toContain(CLAIM_CODE);
    for (const pid of await descendantsOf(test.workspace.pid)) {
      expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).not.toMatch(/pc1\.|claim-code-/);
    }
  });

  it('[inv-14] reports cancelled within seconds of a cancel, when the last process is gone', async () => {
    const marker = sleepMarker();
    const commit = await bench.publish(sleeping(marker));
    const handle = await start(bench.action(commit, ['make', 'test']));
    await eventually(
      () => processesWith(marker),
      (pids) => pids.length >= 2,
    );
    await handle.cancel('test');
    await eventually(
      () => processesWith(marker),
      (pids) => pids.length === 0,
      5,
    );
    expect(await result(handle)).toMatchObject({ outcome: 'cancelled', exit_code: null });
  });

  it('[inv-18] goes on with a run while the gateway is away', async () => {
    const commit = await bench.publish({ Makefile: 'test:\n\t@echo one; sleep 3; echo two\n' });
    test.gateway.chunks.clear();
    const handle = await start(bench.action(commit, ['make', 'test']));
    await eventually(
      () => test.gateway.chunks.size,
      (size) => size > 0,
    );
    test.gateway.failWith = 503;
    test.gateway.cut();
    await eventually(
      () => test.gateway.refused,
      (refused) => refused >= 1,
    );
    test.gateway.failWith = null;
    expect(await result(handle)).toMatchObject({ outcome: 'completed', exit_code: 0, stdout: { chunks_failed: 0 } });
    expect(test.gateway.stored('stdout').toString()).toBe('one\ntwo\n');
  });

  it('[inv-14] takes its command with it when it is killed, and comes back as another boot', async () => {
    const marker = sleepMarker();
    const commit = await bench.publish(sleeping(marker));
    const before = test.boots.length;
    const handle = await start(bench.action(commit, ['make', 'test']));
    await eventually(
      () => processesWith(marker),
      (pids) => pids.length >= 2,
    );
    process.kill(await executorPid(), 'SIGKILL');
    await eventually(
      () => processesWith(marker),
      (pids) => pids.length === 0,
      5,
    );
    await eventually(
      () => test.boots.length,
      (count) => count > before,
    );
    expect(new Set(test.boots).size).toBe(test.boots.length);
    await expect(handle.result()).rejects.toThrow();
    const again = await bench.publish({ Makefile: 'test:\n\t@echo ok\n' });
    expect(await result(await start(bench.action(again, ['make', 'test'])))).toMatchObject({ outcome: 'completed' });
  });

  it('[inv-14] ends its command and itself when its run is disowned, and for good when it is refused', async () => {
    const marker = sleepMarker();
    const commit = await bench.publish(sleeping(marker));
    const handle = await start(bench.action(commit, ['make', 'test']));
    await eventually(
      () => processesWith(marker),
      (pids) => pids.length >= 2,
    );
    test.revoked = true;
    await handle.terminate('test');
    await eventually(
      () => processesWith(marker),
      (pids) => pids.length === 0,
      5,
    );
    expect(await test.workspace.exited).toBe(7);
  });
});

/** The executor's Node, by what it was started with. */
async function executorPid(): Promise<number> {
  for (const pid of await descendantsOf(test.workspace.pid)) {
    if ((await readFile(`/proc/${pid}/cmdline`, 'utf8')).startsWith('/opt/runtime/node')) return pid;
  }
  throw new Error('the executor is not running');
}
