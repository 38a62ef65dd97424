/** Presence of executors as the store shows it, with executors that are killed and polls that are left. */
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { executorQueue } from '../../schemas/queues.ts';
import { pollUntil } from '../support/poll.ts';
import { executorReport } from '../support/verify-fixture.ts';
import { startExecutor } from './executor.ts';
import { ended, metricsOf, midRun } from './mid-run.ts';
import { spawnExecutor } from './processes.ts';
import { rawClient } from './raw-client.ts';
import { openStage, seatOfPair, type DoorStage } from './stage.ts';
import { completion, poll, tokenOf } from './task-token.ts';

/** A lease of 5 s that is renewed every 2 s has at least this left when its holder dies. */
const LEASE_LEFT_MS = 2_500;

let stage: DoorStage;

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
});
afterAll(() => stage.close());

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
    expect(performance.now() - at).toBeLessThan(LEASE_LEFT_MS);
  });

  test('of one that is killed in the middle of a run is gone as well', async () => {
    const gateway = await stage.gateway();
    const run = await midRun(stage, 'killed-busy', `127.0.0.1:${gateway.port}`);
    await pollUntil(async () => (await stage.store.readPresence(run.seat)) === 'busy', { what: 'it to be busy' });
    await run.executor.kill9();
    const at = performance.now();
    await pollUntil(async () => (await stage.store.readPresence(run.seat)) === 'unknown', {
      what: 'the executor to be missed',
      everyMs: 5,
    });
    expect(performance.now() - at).toBeLessThan(LEASE_LEFT_MS);
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
