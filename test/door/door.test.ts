/** The door against a real Temporal: an ordinary SDK worker gets through, and a forged token does not. */
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { executorReport } from '../support/verify-fixture.ts';
import { startExecutor } from './executor.ts';
import { ownSeat, refusal, testClient } from './own-seat.ts';
import { openStage, type DoorStage } from './stage.ts';
import { completion, forgedToken, heartbeat, poll, tokenOf } from './task-token.ts';

let stage: DoorStage;
let address: string;

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
  address = `127.0.0.1:${(await stage.gateway()).port}`;
});
afterAll(() => stage.close());

describe('an executor behind the door', () => {
  test('polls its own queue, runs, and its report is what the workflow gets', async () => {
    const { seat, bearer } = await ownSeat(stage, address, 'pass-through');
    const executor = await startExecutor(address, bearer, seat, () => Promise.resolve(executorReport()));
    const handle = await stage.dispatch(seat, 'report');
    await expect(handle.result()).resolves.toEqual(executorReport());
    await executor.close();
    const metrics = await (await fetch(`http://${address}/metrics`)).text();
    const refused = metrics.split('\n').filter((line) => /^portcullis_gateway_refusals_total/.test(line));
    expect(refused, 'nothing that an ordinary worker calls is refused').toEqual([]);
    expect(metrics).toMatch(/door_calls_total\{method="ShutdownWorker",answer="OK"\} 1/);
  });

  test('gets a task token that only the door can open', async () => {
    const { seat, door, queue } = await ownSeat(stage, address, 'sealed');
    const handle = await stage.dispatch(seat, 'raw');
    const sealed = tokenOf((await door.call('PollActivityTaskQueue', poll(queue))).bytes);
    const direct = testClient(stage.settings.temporalAddress, null);
    expect((await direct.call('RecordActivityTaskHeartbeat', heartbeat(sealed))).code).not.toBe(0);
    expect((await door.call('RecordActivityTaskHeartbeat', heartbeat(sealed, { phase: 'running' }))).code).toBe(0);
    expect((await door.call('RespondActivityTaskCompleted', completion(sealed, executorReport()))).code).toBe(0);
    await expect(handle.result()).resolves.toEqual(executorReport());
  });
});

describe('[inv-05] a forged task token', () => {
  test('is refused at the door, and the run goes on', async () => {
    const { seat, door, queue } = await ownSeat(stage, address, 'forged');
    const handle = await stage.dispatch(seat, 'raw');
    const sealed = tokenOf((await door.call('PollActivityTaskQueue', poll(queue))).bytes);
    const forged = await forgedToken(stage.temporal, handle);
    for (const token of [forged, Buffer.concat([Buffer.of(1), Buffer.alloc(32), forged]), Buffer.alloc(0)]) {
      expect(refusal(await door.call('RespondActivityTaskCompleted', completion(token, executorReport())))).toBe(
        'NOT_FOUND token_unsealed',
      );
      expect((await door.call('RecordActivityTaskHeartbeat', heartbeat(token))).code).toBe(status.NOT_FOUND);
    }
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await door.call('RespondActivityTaskCompleted', completion(sealed, executorReport({ duration_ms: 7 })));
    await expect(handle.result()).resolves.toMatchObject({ duration_ms: 7 });
  });

  test('is believed by Temporal itself, which is why the door is there', async () => {
    const { seat, door, queue } = await ownSeat(stage, address, 'forged-direct');
    const handle = await stage.dispatch(seat, 'raw');
    await door.call('PollActivityTaskQueue', poll(queue));
    const direct = testClient(stage.settings.temporalAddress, null);
    const forged = completion(await forgedToken(stage.temporal, handle), 'forged');
    expect((await direct.call('RespondActivityTaskCompleted', forged)).code).toBe(0);
    await expect(handle.result()).resolves.toBe('forged');
  });

  test("is not made good by another seat's seal", async () => {
    const mine = await ownSeat(stage, address, 'seal-mine');
    const handle = await stage.dispatch(mine.seat, 'raw');
    const sealed = tokenOf((await mine.door.call('PollActivityTaskQueue', poll(mine.queue))).bytes);
    const others = [
      await stage.credential({ pair: 'seal-other' }),
      await stage.credential({ pair: mine.seat.pair, workspaceGeneration: 2 }),
      await stage.credential({ pair: mine.seat.pair, role: 'forge' }),
      await stage.credential({ pair: mine.seat.pair, workspace: 'ws-2' }),
      await stage.credential({ pair: mine.seat.pair, tenant: 'acme' }),
    ];
    for (const { bearer } of others) {
      const answer = await testClient(address, bearer).call(
        'RespondActivityTaskCompleted',
        completion(sealed, executorReport()),
      );
      expect(refusal(answer)).toBe('NOT_FOUND token_unsealed');
    }
    await mine.door.call('RespondActivityTaskCompleted', completion(sealed, executorReport()));
    await handle.result();
  });
});
