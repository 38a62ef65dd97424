/** The official Python client, as a caller that none of our code had a hand in, on both bindings and two gateways. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Context } from '@temporalio/activity';
import { afterAll, beforeAll, expect, test } from 'vitest';
import '../support/quiet.ts';
import type { GatewayStore } from '../../activities/store/port.ts';
import { executorReport } from '../support/verify-fixture.ts';
import { gate } from './gate.ts';
import { moveableProxy } from './moveable-proxy.ts';
import { pythonWithClient } from './python/environment.ts';
import { BINDINGS } from './wire.ts';
import { openWorld, type RunningReplica, type World } from './world.ts';

const run = promisify(execFile);
const EVENTS = 120;

let world: World;
let other: RunningReplica;
let python = '';

beforeAll(async () => {
  [world, python] = await Promise.all([openWorld('a2a-python'), pythonWithClient()]);
  other = await world.replica();
}, 300_000);
afterAll(() => world.close());

/** Writes output while it is watched: as much as a long run, or without an end until it is cancelled. */
async function play(store: GatewayStore, task: string, file: string | undefined): Promise<void> {
  if (file === 'endless.test.js') return gate().pass();
  if (file === undefined) return;
  if (file === 'race.test.js') {
    const held = gate();
    setTimeout(() => held.open(), 400);
    return held.pass();
  }
  for (let offset = 0; offset < EVENTS; offset += 1) {
    const event = { type: 'output', stream: 'stdout', chunk: offset, bytes: 1 } as const;
    await store.appendEvent(world.tenant, task, { source: 'stdout', offset }, event);
    await Context.current().sleep(20);
  }
}

/** How a task may end whose cancel was answered like this: what was said to be terminal stays so. */
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  TASK_STATE_CANCELED: ['TASK_STATE_CANCELED'],
  TASK_STATE_COMPLETED: ['TASK_STATE_COMPLETED'],
  'not cancelable': ['TASK_STATE_COMPLETED'],
  TASK_STATE_SUBMITTED: ['TASK_STATE_CANCELED', 'TASK_STATE_COMPLETED'],
  TASK_STATE_WORKING: ['TASK_STATE_CANCELED', 'TASK_STATE_COMPLETED'],
};

test.each(BINDINGS)(
  'the official client sends, drops twenty times, lives through a restart, races its cancels, lists and is refused what is not its own, on %s',
  async (binding) => {
    const pair = `python-${binding === 'JSONRPC' ? 'rpc' : 'http'}`;
    const bearer = await world.pair(pair, async ({ action }, store) => {
      await play(store, action.taskId, action.argvRequested[2]);
      return executorReport();
    });
    const foreign = await world.credential({ role: 'sentinel', use: 'agent', pair: 'elsewhere' });
    const script = join(import.meta.dirname, 'python', 'drive.py');
    const leaving = await world.replica();
    const moving = await moveableProxy(leaving.url);
    const driving = run(python, [script, world.url, other.url, moving.url, binding, bearer, foreign, pair], {
      timeout: 100_000,
    });
    // In the middle of a run its gateway goes away; another one answers at the same address.
    driving.child.stderr?.once('data', () => {
      moving.moveTo(other.url);
      void leaving.close();
    });
    const { stdout } = await driving;
    await moving.close();
    const seen = JSON.parse(stdout) as Record<string, unknown>;
    expect(seen).toMatchObject({
      streamed_state: 'TASK_STATE_COMPLETED',
      immediate_state: expect.stringMatching(/SUBMITTED|WORKING/) as string,
      retry_is_same: true,
      drops: 20,
      ended_state: 'TASK_STATE_COMPLETED',
      artifacts: ['verify-result'],
      subscribe_after_end: 'UnsupportedOperationError',
      cancel_after_end: 'TaskNotCancelableError',
      running_state: expect.stringMatching(/SUBMITTED|WORKING/) as string,
      cancelled: 'TASK_STATE_CANCELED',
      cancelled_again: 'TASK_STATE_CANCELED',
      rejected: 'TASK_STATE_REJECTED',
      rejected_again: 'TASK_STATE_REJECTED',
      foreign_get: 'TaskNotFoundError',
      foreign_cancel: 'TaskNotFoundError',
      foreign_subscribe: 'TaskNotFoundError',
      foreign_list: 0,
      pages: [2, 1],
      total: 3,
      completed: [1, 1],
    });
    expect(seen['streamed']).toEqual(expect.arrayContaining(['task', 'status_update', 'artifact_update']));
    expect(seen['cuts']).toBeGreaterThan(0);
    expect(seen['through']).toEqual(Array.from({ length: Number(seen['through_seq']) }, (_, index) => index + 1));
    for (const [answered, ended] of seen['races'] as [string, string][]) {
      expect({ answered, ended: ENDINGS[answered] ?? [] }).toEqual({
        answered,
        ended: expect.arrayContaining([ended]) as string[],
      });
    }
    const endings = (seen['races'] as [string, string][]).map(([, ended]) => ended);
    expect(new Set(endings)).toEqual(new Set(['TASK_STATE_CANCELED', 'TASK_STATE_COMPLETED']));
    const numbers = seen['seen'];
    expect(numbers).toEqual(Array.from({ length: Number(seen['ended_seq']) }, (_, index) => index + 1));
  },
  120_000,
);
