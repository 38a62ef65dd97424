/** What the door does when something dies or is taken away: real processes, real kills, looked at from outside. */
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { executorQueue } from '../../schemas/queues.ts';
import { pollUntil } from '../support/poll.ts';
import { executorReport } from '../support/verify-fixture.ts';
import { isRunning, spawnExecutor, spawnGateway, type TestProcess } from './processes.ts';
import { rawClient } from './raw-client.ts';
import { startExecutor } from './executor.ts';
import { openStage, seatOfPair, type DoorStage } from './stage.ts';
import { completion, heartbeat, poll, tokenOf } from './task-token.ts';

let stage: DoorStage;

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
});
afterAll(() => stage.close());

function ended<T extends TestProcess>(process: T): T {
  onTestFinished(() => process.kill9());
  return process;
}

/** An executor of its own pair, in the middle of a run whose child is up. */
async function midRun(pair: string, address: string, heartbeatSecs = 120) {
  const seat = seatOfPair(pair);
  const credential = await stage.credential({ pair });
  const executor = ended(spawnExecutor({ address, bearer: credential.bearer, seat }));
  await executor.said('ready');
  const file = join(stage.directory, `${pair}.done`);
  const handle = await stage.dispatch(seat, file, heartbeatSecs);
  const { child } = await executor.said('child');
  return { seat, credential, executor, handle, child, finish: () => writeFileSync(file, '') };
}

describe('[inv-18] a run in flight', () => {
  test('survives that its gateway is killed and started again', async () => {
    const { logger, ...settings } = stage.settings;
    const first = ended(await spawnGateway(settings));
    const run = await midRun('restart', `127.0.0.1:${first.port}`);
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

describe('[inv-09] a revoked executor', () => {
  test('has its child killed at once, and what it answers then counts for nothing', async () => {
    const gateway = await stage.gateway();
    const run = await midRun('revoked', `127.0.0.1:${gateway.port}`, 3);
    const at = performance.now();
    await stage.control.revokeCredential('local', run.credential.record.id);
    await pollUntil(() => !isRunning(run.child), { what: 'the child of a revoked executor to die', deadlineMs: 5_000 });
    // A second of cache, a heartbeat every 300 ms.
    expect(performance.now() - at).toBeLessThan(3_000);
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

describe('presence', () => {
  test('of an executor that is killed is gone long before its lease would be', async () => {
    const gateway = await stage.gateway();
    const seat = seatOfPair('killed');
    const { bearer } = await stage.credential({ pair: seat.pair });
    const executor = ended(spawnExecutor({ address: `127.0.0.1:${gateway.port}`, bearer, seat }));
    await executor.said('ready');
    await pollUntil(async () => (await stage.store.readPresence(seat)) === 'idle', { what: 'the executor to be seen' });
    await executor.kill9();
    const at = performance.now();
    // Absent for sure only later: somebody was seen within 8 s.
    await pollUntil(async () => (await stage.store.readPresence(seat)) === 'unknown', {
      what: 'the executor to be missed',
      everyMs: 5,
    });
    expect(performance.now() - at).toBeLessThan(1_000);
  });

  test('of one that is killed in the middle of a run is gone as well', async () => {
    const gateway = await stage.gateway();
    const run = await midRun('killed-busy', `127.0.0.1:${gateway.port}`);
    await pollUntil(async () => (await stage.store.readPresence(run.seat)) === 'busy', { what: 'it to be busy' });
    await run.executor.kill9();
    const at = performance.now();
    await pollUntil(async () => (await stage.store.readPresence(run.seat)) === 'unknown', {
      what: 'the executor to be missed',
      everyMs: 5,
    });
    expect(performance.now() - at).toBeLessThan(1_000);
    process.kill(Number(run.child), 'SIGKILL');
    await run.handle.terminate();
  });

  test('held by one gateway is not dropped by another', async () => {
    const [a, b] = [await stage.gateway(), await stage.gateway()];
    const seat = seatOfPair('two-holders');
    const { bearer } = await stage.credential({ pair: seat.pair });
    const atA = rawClient(`127.0.0.1:${a.port}`, bearer);
    const parkedA = atA.start('PollActivityTaskQueue', poll(executorQueue(seat)), { deadlineMs: 60_000 });
    await pollUntil(async () => (await stage.store.readPresence(seat)) === 'idle', { what: 'the first poll' });
    const executor = await startExecutor(`127.0.0.1:${b.port}`, bearer, seat, () => Promise.resolve(executorReport()));
    onTestFinished(() => executor.close());
    await pollUntil(async () => /parked_polls [1-9]/.test(await metricsOf(b.port)), { what: 'the second poll' });
    parkedA.cancel();
    atA.close();
    await pollUntil(async () => /connections\{protocol="grpc"\} 0/.test(await metricsOf(a.port)), { what: 'the drop' });
    // Whichever of the two held it last, the one that is there says so within its next renewal.
    await pollUntil(async () => (await stage.store.readPresence(seat)) === 'idle', { what: 'the one that stayed' });
  });

  test('is unknown, not absent, just after a gateway started', async () => {
    await stage.gateway();
    expect(await stage.store.readPresence(seatOfPair('never-there'))).toBe('unknown');
  });
});

describe('a poll that nobody waits for', () => {
  test('ends upstream, so that the next task goes to whoever is there', async () => {
    const gateway = await stage.gateway();
    const seat = seatOfPair('abandoned');
    const { bearer } = await stage.credential({ pair: seat.pair });
    const door = rawClient(`127.0.0.1:${gateway.port}`, bearer);
    onTestFinished(() => door.close());
    const parked = door.start('PollActivityTaskQueue', poll(executorQueue(seat)), { deadlineMs: 60_000 });
    await pollUntil(async () => (await stage.store.readPresence(seat)) === 'idle', { what: 'the poll' });
    parked.cancel();
    await pollUntil(async () => /parked_polls 0/.test(await metricsOf(gateway.port)), { what: 'its end' });
    const handle = await stage.dispatch(seat, 'raw');
    const { bytes } = await door.call('PollActivityTaskQueue', poll(executorQueue(seat)));
    await door.call('RespondActivityTaskCompleted', completion(tokenOf(bytes), executorReport()));
    await expect(handle.result()).resolves.toEqual(executorReport());
  });
});

async function metricsOf(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}
