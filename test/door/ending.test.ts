/** How the door ends a run that is to end: a cancel, a revocation. */
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { executorQueue } from '../../schemas/queues.ts';
import { pollUntil } from '../support/poll.ts';
import { executorReport } from '../support/verify-fixture.ts';
import { ended, metricsOf, midRun } from './mid-run.ts';
import { isRunning, spawnExecutor } from './processes.ts';
import { rawClient } from './raw-client.ts';
import { openStage, seatOfPair, type DoorStage } from './stage.ts';
import { completion, poll, tokenOf } from './task-token.ts';

let stage: DoorStage;

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
});
afterAll(() => stage.close());

describe('a cancel', () => {
  test("reaches the executor's child through the door, and the executor says how it ended", async () => {
    const gateway = await stage.gateway();
    const run = await midRun(stage, 'cancelled', `127.0.0.1:${gateway.port}`);
    await run.handle.cancel();
    await pollUntil(() => !isRunning(run.child), { what: 'the child of a cancelled run to die' });
    await expect(run.handle.result()).resolves.toMatchObject({ outcome: 'cancelled' });
  });

  test('may be answered as cancelled as well as with a report', async () => {
    const gateway = await stage.gateway();
    const seat = seatOfPair('cancelled-bare');
    const { bearer } = await stage.credential({ pair: seat.pair });
    const executor = ended(spawnExecutor({ address: `127.0.0.1:${gateway.port}`, bearer, seat }));
    const handle = await stage.dispatch(seat, 'throws when cancelled');
    await executor.said('child');
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    await pollUntil(
      async () => /door_calls_total\{method="RecordWorkerHeartbeat",answer="OK"\}/.test(await metricsOf(gateway.port)),
      {
        what: 'a heartbeat of the worker itself',
      },
    );
    expect(await metricsOf(gateway.port)).not.toMatch(/refusals_total\{/);
  });
});

describe('[inv-09] a revoked executor', () => {
  test('has its child killed at once, and what it answers then counts for nothing', async () => {
    const gateway = await stage.gateway();
    const run = await midRun(stage, 'revoked', `127.0.0.1:${gateway.port}`, 8);
    await stage.control.revokeCredential('local', run.credential.record.id);
    // A second of cache and a heartbeat every 300 ms; the heartbeat timeout is later than this deadline.
    await pollUntil(() => !isRunning(run.child), { what: 'the child of a revoked executor to die', deadlineMs: 5_000 });
    expect(await run.executor.said('why')).toMatchObject({ why: { notFound: true } });
    await expect(run.handle.result()).rejects.toMatchObject({ cause: { cause: { timeoutType: 'HEARTBEAT' } } });
  });

  test('is told NOT_FOUND for a task it was given, and its parked poll ends', async () => {
    const gateway = await stage.gateway();
    const seat = seatOfPair('revoked-poll');
    const { bearer, record } = await stage.credential({ pair: seat.pair });
    const door = rawClient(`127.0.0.1:${gateway.port}`, bearer);
    onTestFinished(() => door.close());
    const handle = await stage.dispatch(seat, 'raw');
    const sealed = tokenOf((await door.call('PollActivityTaskQueue', poll(executorQueue(seat)))).bytes);
    const parked = door.start('PollActivityTaskQueue', poll(executorQueue(seat)), { deadlineMs: 60_000 });
    await stage.control.revokeCredential('local', record.id);
    expect((await parked.answer).code).toBe(status.UNAUTHENTICATED);
    expect((await door.call('RespondActivityTaskCompleted', completion(sealed, executorReport()))).code).toBe(
      status.NOT_FOUND,
    );
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await handle.terminate();
  });
});
