/** What becomes of a run in flight when something dies or is taken away: real processes, real kills. */
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { executorQueue } from '../../schemas/queues.ts';
import { pollUntil } from '../support/poll.ts';
import { executorReport } from '../support/verify-fixture.ts';
import { ended, midRun } from './mid-run.ts';
import { isRunning, spawnGateway } from './processes.ts';
import { rawClient } from './raw-client.ts';
import { openStage, seatOfPair, type DoorStage } from './stage.ts';
import { completion, heartbeat, poll, tokenOf } from './task-token.ts';

let stage: DoorStage;

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
});
afterAll(() => stage.close());

describe('[inv-18] a run in flight', () => {
  test('survives that its gateway is killed and started again', async () => {
    const { logger, ...settings } = stage.settings;
    const first = ended(await spawnGateway(settings));
    const run = await midRun(stage, 'restart', `127.0.0.1:${first.port}`);
    await first.kill9();
    const second = ended(await spawnGateway({ ...settings, port: first.port }));
    await pollUntil(async () => (await stage.store.readPresence(run.seat)) === 'busy', {
      what: 'a heartbeat through the new gateway',
    });
    expect(isRunning(run.child)).toBe(true);
    expect(second.port).toBe(first.port);
    run.finish();
    await expect(run.handle.result()).resolves.toEqual(executorReport());
    expect(await run.executor.said('ended')).toMatchObject({ ended: 'finished' });
    expect(logger).toBeDefined();
  });

  test('goes over to another gateway on the same store: what one sealed the other opens', async () => {
    const [a, b] = [await stage.gateway(), await stage.gateway()];
    const seat = seatOfPair('two-gateways');
    const { bearer } = await stage.credential({ pair: seat.pair });
    const [atA, atB] = [rawClient(`127.0.0.1:${a.port}`, bearer), rawClient(`127.0.0.1:${b.port}`, bearer)];
    const handle = await stage.dispatch(seat, 'raw');
    const sealed = tokenOf((await atA.call('PollActivityTaskQueue', poll(executorQueue(seat)))).bytes);
    atA.close();
    expect((await atB.call('RecordActivityTaskHeartbeat', heartbeat(sealed))).code).toBe(0);
    expect((await atB.call('RespondActivityTaskCompleted', completion(sealed, executorReport()))).code).toBe(0);
    await expect(handle.result()).resolves.toEqual(executorReport());
    atB.close();
  });

  test('goes on while the store is away, when its credential was read before; nothing new is handed out', async () => {
    const gateway = await stage.gateway();
    const address = `127.0.0.1:${gateway.port}`;
    const seat = seatOfPair('store-away');
    const { bearer } = await stage.credential({ pair: seat.pair });
    const never = await stage.credential({ pair: seat.pair });
    const door = rawClient(address, bearer);
    onTestFinished(() => door.close());
    const handle = await stage.dispatch(seat, 'raw');
    const sealed = tokenOf((await door.call('PollActivityTaskQueue', poll(executorQueue(seat)))).bytes);
    const parked = door.start('PollActivityTaskQueue', poll(executorQueue(seat)), { deadlineMs: 60_000 });
    await pollUntil(async () => (await stage.store.readPresence(seat)) === 'idle', { what: 'the parked poll' });
    await stage.storeServer.kill9();
    let away = true;
    onTestFinished(async () => {
      if (away) await stage.storeServer.restart();
    });
    // What was read is current for a second; then only what needs nothing new goes on.
    await pollUntil(async () => (await door.call('GetSystemInfo', Buffer.alloc(0))).code === status.UNAVAILABLE, {
      what: 'the credential to be unreadable',
    });
    expect((await door.call('PollActivityTaskQueue', poll(executorQueue(seat)))).code).toBe(status.UNAVAILABLE);
    const second = await stage.dispatch(seat, 'raw');
    await pollUntil(async () => (await second.describe()).raw.pendingActivities?.[0]?.lastStartedTime, {
      what: 'the task to be handed to the parked poll',
    });
    expect((await door.call('RecordActivityTaskHeartbeat', heartbeat(sealed))).code).toBe(0);
    const unknown = rawClient(address, never.bearer);
    expect((await unknown.call('RecordActivityTaskHeartbeat', heartbeat(sealed))).code).toBe(status.UNAVAILABLE);
    unknown.close();
    expect((await door.call('RespondActivityTaskCompleted', completion(sealed, executorReport()))).code).toBe(0);
    await handle.result();
    await expect(Promise.race([parked.answer, Promise.resolve('held')])).resolves.toBe('held');
    await stage.storeServer.restart();
    away = false;
    await pollUntil(() => stage.store.now(), { what: 'the store to be back' });
    const later = tokenOf((await parked.answer).bytes);
    expect(later.length).toBeGreaterThan(0);
    expect((await door.call('RespondActivityTaskCompleted', completion(later, executorReport()))).code).toBe(0);
    await expect(second.result()).resolves.toEqual(executorReport());
  });

  test('may end well although its credential has expired meanwhile', async () => {
    const gateway = await stage.gateway();
    const seat = seatOfPair('expiring');
    const { bearer } = await stage.credential({ pair: seat.pair, expiresAt: Date.now() + 1_500 });
    const door = rawClient(`127.0.0.1:${gateway.port}`, bearer);
    onTestFinished(() => door.close());
    const handle = await stage.dispatch(seat, 'raw');
    const sealed = tokenOf((await door.call('PollActivityTaskQueue', poll(executorQueue(seat)))).bytes);
    await pollUntil(
      async () => (await door.call('PollActivityTaskQueue', poll(executorQueue(seat)))).code === status.UNAUTHENTICATED,
      { what: 'the credential to expire' },
    );
    expect((await door.call('RecordActivityTaskHeartbeat', heartbeat(sealed))).code).toBe(0);
    expect((await door.call('RespondActivityTaskCompleted', completion(sealed, executorReport()))).code).toBe(0);
    await expect(handle.result()).resolves.toEqual(executorReport());
  });
});
