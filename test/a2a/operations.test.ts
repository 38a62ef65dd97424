/** The A2A operations end to end: real gateway, store, Temporal and verify workflow; a scripted executor stands in. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GatewayClient } from '../../client/gateway-client.ts';
import type { Watched } from '../../client/watch.ts';
import { pollUntil } from '../support/poll.ts';
import { executorReport } from '../support/verify-fixture.ts';
import '../support/quiet.ts';
import { gate } from './gate.ts';
import { ask, openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld('a2a-operations');
});
afterAll(() => world.close());

async function collect(watched: AsyncIterable<Watched>): Promise<Watched[]> {
  const all: Watched[] = [];
  for await (const item of watched) all.push(item);
  return all;
}

describe('sending', () => {
  test('a blocking send answers the ended task with its result', async () => {
    const client = world.client(await world.pair('send-blocking'));
    const task = await client.sendVerify(ask('send-blocking'), { wait: true });
    expect(task.state).toBe('completed');
    expect(task.metadata).toMatchObject({ phase: 'ended', outcome: 'completed', satisfied: true });
    expect(task.result).toMatchObject({ task_id: task.id, status: 'completed', exit_code: 0 });
    expect(await client.getTask(task.id)).toEqual(task);
  });

  test('an immediate send answers while the command runs, and the watch tells the rest to the end', async () => {
    const held = gate();
    const client = world.client(
      await world.pair('send-now', async (signed, store) => {
        for (let offset = 0; offset < 10; offset += 1) {
          const output = { type: 'output', stream: 'stdout', chunk: offset, bytes: 5 } as const;
          await store.appendEvent(world.tenant, signed.action.taskId, { source: 'stdout', offset }, output);
        }
        await held.pass();
        return executorReport();
      }),
    );
    const task = await client.sendVerify(ask('send-now'));
    expect(['submitted', 'working']).toContain(task.state);
    const watching = collect(client.watch(task.id));
    await pollUntil(async () => (await client.getTask(task.id)).metadata.seq >= 11, { what: 'ten chunks of output' });
    held.open();
    const seen = await watching;
    const seqs = seen.flatMap((item) => (item.kind === 'event' ? [item.numbered.seq] : []));
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => (seqs[0] ?? 0) + index));
    expect(seen.at(-1)).toMatchObject({ kind: 'end', task: { state: 'completed' } });
    const log = await client.getTask(task.id, 0);
    expect(log.metadata.events?.map(({ seq }) => seq)).toEqual(
      Array.from({ length: log.metadata.seq }, (_, n) => n + 1),
    );
  });

  test('[inv-08] the same request twice is one run, under the same and under another messageId', async () => {
    let runs = 0;
    const client = world.client(
      await world.pair('twice', () => {
        runs += 1;
        return Promise.resolve(executorReport());
      }),
    );
    const sent = await Promise.all(Array.from({ length: 8 }, () => client.sendVerify(ask('twice'), { wait: true })));
    const again = await client.sendVerify(ask('twice'), { messageId: 'm-1' });
    const repeated = await client.sendVerify(ask('twice'), { messageId: 'm-1' });
    expect(new Set([...sent, again, repeated].map(({ id }) => id)).size).toBe(1);
    const deliberate = await client.sendVerify(ask('twice', { attempt: 2 }), { wait: true });
    expect(deliberate.id).not.toBe(again.id);
    expect(runs).toBe(2);
  });

  test('many requests of one pair at once, on two gateways, are all admitted, each as a task of its own', async () => {
    const bearer = await world.pair('crowd');
    const other = await world.replica({ sweeps: false });
    const clients = [world.client(bearer), world.client(bearer, other.url)];
    const sent = await Promise.all(
      Array.from({ length: 20 }, (_, n) => clients.map((client, which) => [client, 2 * n + which + 1] as const))
        .flat()
        .map(([client, attempt]) => client.sendVerify(ask('crowd', { attempt }))),
    );
    expect(new Set(sent.map(({ id }) => id)).size).toBe(40);
    await other.close();
  });

  test('a messageId with another body is a named conflict and runs nothing', async () => {
    const client = world.client(await world.pair('conflict'));
    await client.sendVerify(ask('conflict'), { messageId: 'same', wait: true });
    await expect(client.sendVerify(ask('conflict', { timeout_secs: 61 }), { messageId: 'same' })).rejects.toMatchObject(
      {
        code: 'message_id_conflict',
      },
    );
  });

  test('[inv-05] where routing sends no request is refused by name, and nobody else runs it', async () => {
    const client = world.client(await world.pair('routed'));
    for (const [change, why] of [
      [{ executor: 'forge' }, 'the routing of this pair does not send requests there'],
      [{ cwd: 'worktree' }, 'the routing of this pair does not send requests there'],
      [{ cwd: 'worktree', executor: 'verifier' }, 'the routing policy sends no request for a worktree there'],
    ] as const) {
      const task = await client.sendVerify(ask('routed', change), { wait: true });
      expect(task).toMatchObject({ state: 'rejected', metadata: { refusal: 'role' } });
      expect(task.detail).toContain(why);
    }
    const { result } = await client.sendVerify(ask('routed'), { wait: true });
    expect(result).toMatchObject({
      attestation: 'verifier',
      routing: { id: 'default' },
      gate_grade: { eligible: true },
    });
  });

  test('what policy refuses is a task that was born ended: readable, on record, never dispatched', async () => {
    const client = world.client(await world.pair('refused'));
    const task = await client.sendVerify(ask('refused', { argv: ['curl', 'http://example.org'] }), { wait: true });
    expect(task).toMatchObject({ state: 'rejected', metadata: { outcome: 'rejected', refusal: 'tool_unknown' } });
    expect(await client.getTask(task.id)).toMatchObject({ id: task.id, state: 'rejected' });
    await expect(client.cancelTask(task.id)).rejects.toMatchObject({ code: 'task_not_cancelable' });
    expect(await world.store.listTasks(world.tenant, 'refused', { limit: 5, before: null })).toEqual([]);
    const stranger = world.client(await world.pair('refused-stranger'));
    await expect(stranger.getTask(task.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each([
    [
      'stale',
      'a subject that is not the current one',
      { subject: { head_sha: 'b'.repeat(40), execution: 'e1', generation: 1 } },
      'state_conflict',
    ],
    ['timeless', 'a time-out of nothing', { timeout_secs: 0 }, 'schema_invalid'],
  ])('%s: %s is an error, not a task', async (pair, _what, change, code) => {
    const bearer = await world.credential({ role: 'operator', use: 'operator' });
    await world.pair(pair);
    await expect(world.client(bearer).sendVerify(ask(pair, change))).rejects.toMatchObject({ code });
  });
});

test('the unix socket serves the same as the port', async () => {
  const bearer = await world.pair('by-socket');
  const { socketPath } = await world.replica();
  const client = new GatewayClient({ url: 'http://gateway', socketPath, bearer });
  const task = await client.sendVerify(ask('by-socket'), { wait: true });
  expect(await world.client(bearer).getTask(task.id)).toEqual(task);
});

test('[inv-04] a credential of another execution asks nothing, and still reads what was', async () => {
  await world.pair('execution');
  const sentinel = { role: 'sentinel', use: 'agent', pair: 'execution' } as const;
  const current = world.client(await world.credential({ ...sentinel, execution: 'e1' }));
  const { id } = await current.sendVerify(ask('execution'), { wait: true });
  const earlier = world.client(await world.credential({ ...sentinel, execution: 'e0' }));
  await expect(earlier.sendVerify(ask('execution', { attempt: 2 }))).rejects.toMatchObject({ code: 'not_allowed' });
  expect(await earlier.getTask(id)).toMatchObject({ state: 'completed' });
});

describe('cancelling', () => {
  test('answers the cancelled task once the executor let go, and again', async () => {
    const held = gate();
    const client = world.client(
      await world.pair('cancel', async () => {
        await held.pass();
        return executorReport();
      }),
    );
    const task = await client.sendVerify(ask('cancel'));
    await pollUntil(async () => (await client.getTask(task.id)).metadata.phase === 'running', { what: 'the run' });
    expect(await client.cancelTask(task.id)).toMatchObject({ state: 'canceled', metadata: { outcome: 'cancelled' } });
    expect(await client.cancelTask(task.id)).toMatchObject({ state: 'canceled' });
  });

  test('a task that ended otherwise is not cancelable', async () => {
    const client = world.client(await world.pair('cancel-late'));
    const task = await client.sendVerify(ask('cancel-late'), { wait: true });
    await expect(client.cancelTask(task.id)).rejects.toMatchObject({ code: 'task_not_cancelable' });
  });
});

describe('the kill switch', () => {
  test('refuses by name, and cancels nothing by itself', async () => {
    const client = world.client(await world.pair('killed'));
    const operator = world.client(await world.credential({ role: 'operator', use: 'operator' }));
    expect(await operator.turnKillSwitch({ on: true, reason: 'drill', cancelRunning: false })).toMatchObject({
      active: { on: true, reason: 'drill' },
    });
    try {
      const task = await client.sendVerify(ask('killed'), { wait: true });
      expect(task).toMatchObject({ state: 'rejected', metadata: { refusal: 'kill_switch' } });
    } finally {
      await operator.turnKillSwitch({ on: false, reason: 'drill over', cancelRunning: false });
    }
    expect(await client.sendVerify(ask('killed'), { wait: true })).toMatchObject({ state: 'completed' });
  });
});
