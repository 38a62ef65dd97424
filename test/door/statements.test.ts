/** What an executor says, held against its schema and its bounds before it can reach a history. */
import { status } from '@grpc/grpc-js';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { executorReport } from '../support/verify-fixture.ts';
import { ownSeat, refusal, testClient } from './own-seat.ts';
import { openStage, type DoorStage } from './stage.ts';
import { completion, heartbeat, poll, tokenOf } from './task-token.ts';

let stage: DoorStage;
let address: string;

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
  address = `127.0.0.1:${(await stage.gateway()).port}`;
});
afterAll(() => stage.close());

describe('[inv-19] what comes out of a workspace', () => {
  test('ends the run as failed when it is no report', async () => {
    for (const [n, bad] of [{ passed: true }, 'approved', { ...executorReport(), exit_code: 1.5 }, null].entries()) {
      const { seat, door, queue } = await ownSeat(stage, address, `no-report-${n}`);
      const handle = await stage.dispatch(seat, 'raw');
      const sealed = tokenOf((await door.call('PollActivityTaskQueue', poll(queue))).bytes);
      const answer = await door.call('RespondActivityTaskCompleted', completion(sealed, bad));
      expect(refusal(answer)).toBe('INVALID_ARGUMENT schema_invalid');
      await expect(handle.result()).rejects.toMatchObject({ cause: { cause: { type: 'schema_invalid' } } });
    }
  });

  test('would reach the workflow whatever it is without the door', async () => {
    const { seat, queue } = await ownSeat(stage, address, 'no-report-direct');
    const handle = await stage.dispatch(seat, 'raw');
    const direct = testClient(stage.settings.temporalAddress, null);
    const token = tokenOf((await direct.call('PollActivityTaskQueue', poll(queue))).bytes);
    await direct.call('RespondActivityTaskCompleted', completion(token, { passed: true }));
    await expect(handle.result()).resolves.toEqual({ passed: true });
  });

  test('is bounded: heartbeat details by their schema, a failure to a code and a sentence', async () => {
    const { seat, door, queue } = await ownSeat(stage, address, 'failures');
    const handle = await stage.dispatch(seat, 'raw');
    const sealed = tokenOf((await door.call('PollActivityTaskQueue', poll(queue))).bytes);
    const chatty = await door.call('RecordActivityTaskHeartbeat', heartbeat(sealed, { phase: 'x'.repeat(2_000) }));
    expect(chatty.code).toBe(status.INVALID_ARGUMENT);
    const failed = proto.temporal.api.workflowservice.v1.RespondActivityTaskFailedRequest.encode({
      taskToken: sealed,
      namespace: 'default',
      identity: 'test',
      failure: {
        message: 'm'.repeat(100_000),
        stackTrace: 'secret stack',
        cause: { message: 'secret cause' },
        applicationFailureInfo: { type: 'NoSuchCode', nonRetryable: false },
      },
    }).finish();
    expect((await door.call('RespondActivityTaskFailed', failed)).code).toBe(0);
    const history = JSON.stringify(await handle.result().catch((error: unknown) => error), replaceErrors);
    expect(history).toContain('m'.repeat(1_024));
    expect(history).not.toContain('m'.repeat(1_025));
    expect(history).not.toContain('secret');
    expect(history).toContain('"type":"internal"');
  });

  test('is bounded in size and in number', async () => {
    const { door, queue } = await ownSeat(stage, address, 'sizes');
    const huge = completion(Buffer.alloc(64), { text: 'x'.repeat(5 * 1024 * 1024) });
    expect((await door.call('RespondActivityTaskCompleted', huge)).code).toBe(status.RESOURCE_EXHAUSTED);
    const parked = Array.from({ length: 16 }, () => door.start('PollActivityTaskQueue', poll(queue)));
    const oneMore = await Promise.race([
      door.call('PollActivityTaskQueue', poll(queue)),
      ...parked.map(({ answer }) => answer),
    ]);
    expect(refusal(oneMore)).toBe('RESOURCE_EXHAUSTED rate_limited');
    for (const one of parked) one.cancel();
  });
});

/** Errors as plain objects, causes and all. */
function replaceErrors(_: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const type: unknown = Reflect.get(value, 'type');
  return { type, message: value.message, cause: value.cause };
}
