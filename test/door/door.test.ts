/** The door against a real Temporal: an ordinary SDK worker gets through, and nothing else does. */
import proto from '@temporalio/proto';
import protobuf from 'protobufjs';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import type { RunningGateway } from '../../gateway/gateway.ts';
import { makeBearer } from '../../gateway/authority/bearer.ts';
import { DOOR_RPCS, isDoorMethod } from '../../gateway/door/rpcs.ts';
import { CODE_TRAILER } from '../../gateway/door/status.ts';
import { executorQueue } from '../../schemas/queues.ts';
import { executorReport } from '../support/verify-fixture.ts';
import { rawClient, type RawAnswer, type RawClient } from './raw-client.ts';
import { startExecutor } from './executor.ts';
import { openStage, seatOfPair, type DoorStage } from './stage.ts';
import { completion, forgedToken, heartbeat, poll, tokenOf } from './task-token.ts';

let stage: DoorStage;
let gateway: RunningGateway;
let address: string;

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
  gateway = await stage.gateway();
  address = `127.0.0.1:${gateway.port}`;
});
afterAll(() => stage.close());

function client(to: string, bearer: string | null): RawClient {
  const made = rawClient(to, bearer);
  onTestFinished(() => made.close());
  return made;
}

function refusal({ code, trailers }: RawAnswer): string {
  return `${status[code] ?? 'none'} ${trailers.get(CODE_TRAILER).join()}`;
}

/** A pair of its own, with an executor's credential and a client that has it. */
async function ownSeat(pair: string) {
  const seat = seatOfPair(pair);
  const { bearer, record } = await stage.credential({ pair });
  return { seat, bearer, record, door: client(address, bearer), queue: executorQueue(seat) };
}

describe('an executor behind the door', () => {
  test('polls its own queue, runs, and its report is what the workflow gets', async () => {
    const { seat, bearer } = await ownSeat('pass-through');
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
    const { seat, door, queue } = await ownSeat('sealed');
    const handle = await stage.dispatch(seat, 'raw');
    const sealed = tokenOf((await door.call('PollActivityTaskQueue', poll(queue))).bytes);
    const direct = client(stage.settings.temporalAddress, null);
    expect((await direct.call('RecordActivityTaskHeartbeat', heartbeat(sealed))).code).not.toBe(0);
    expect((await door.call('RecordActivityTaskHeartbeat', heartbeat(sealed, { phase: 'running' }))).code).toBe(0);
    expect((await door.call('RespondActivityTaskCompleted', completion(sealed, executorReport()))).code).toBe(0);
    await expect(handle.result()).resolves.toEqual(executorReport());
  });
});

describe('[inv-05] a forged task token', () => {
  test('is refused at the door, and the run goes on', async () => {
    const { seat, door, queue } = await ownSeat('forged');
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
    const { seat, door, queue } = await ownSeat('forged-direct');
    const handle = await stage.dispatch(seat, 'raw');
    await door.call('PollActivityTaskQueue', poll(queue));
    const direct = client(stage.settings.temporalAddress, null);
    const forged = completion(await forgedToken(stage.temporal, handle), 'forged');
    expect((await direct.call('RespondActivityTaskCompleted', forged)).code).toBe(0);
    await expect(handle.result()).resolves.toBe('forged');
  });

  test("is not made good by another seat's seal", async () => {
    const mine = await ownSeat('seal-mine');
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
      const answer = await client(address, bearer).call(
        'RespondActivityTaskCompleted',
        completion(sealed, executorReport()),
      );
      expect(refusal(answer)).toBe('NOT_FOUND token_unsealed');
    }
    await mine.door.call('RespondActivityTaskCompleted', completion(sealed, executorReport()));
    await handle.result();
  });
});

describe('[inv-05] what the door does not pass', () => {
  test('is every method but nine, on every service', async () => {
    const { door } = await ownSeat('methods');
    const root: unknown = proto;
    if (!(root instanceof protobuf.Root)) throw new Error('no reflection root');
    const { OK, PERMISSION_DENIED, UNIMPLEMENTED } = status;
    const passed: string[] = [];
    for (const service of ['workflowservice.v1.WorkflowService', 'operatorservice.v1.OperatorService']) {
      for (const { name } of root.lookupService(`temporal.api.${service}`).methodsArray) {
        if (service.startsWith('workflow') && isDoorMethod(name)) continue;
        const { code } = await door.call(name, Buffer.alloc(0), { service: `temporal.api.${service}` });
        if (code !== PERMISSION_DENIED) passed.push(`${name}: ${status[code] ?? OK}`);
      }
    }
    expect(passed).toEqual([]);
    expect((await door.call('AnythingNew', Buffer.alloc(0))).code).toBe(UNIMPLEMENTED);
    expect(Object.keys(DOOR_RPCS)).toHaveLength(9);
  });

  test("is another pair's queue, another kind of queue, another namespace", async () => {
    const { door, queue } = await ownSeat('queues');
    const foreign = [
      executorQueue(seatOfPair('somebody-else')),
      executorQueue(seatOfPair('queues', { tenant: 'acme' })),
      executorQueue(seatOfPair('queues', { role: 'forge' })),
      executorQueue(seatOfPair('queues', { workspaceGeneration: 2 })),
      'control/local',
      'gate/local',
      '',
    ];
    for (const name of foreign) {
      expect(refusal(await door.call('PollActivityTaskQueue', poll(name))), name).toBe(
        'PERMISSION_DENIED queue_foreign',
      );
    }
    expect(
      (
        await door.call(
          'PollActivityTaskQueue',
          poll(queue, { kind: proto.temporal.api.enums.v1.TaskQueueKind.TASK_QUEUE_KIND_STICKY }),
        )
      ).code,
    ).toBe(status.PERMISSION_DENIED);
    expect((await door.call('PollActivityTaskQueue', poll(queue, { namespace: 'x' }))).code).toBe(
      status.PERMISSION_DENIED,
    );
    const sticky = await door.call('PollActivityTaskQueue', poll(queue, { normalName: 'control/local' }));
    expect(sticky.code).toBe(status.INVALID_ARGUMENT);
    // The last of two queues counts for some readers, the merged one for others: so two are none.
    const twice = Buffer.concat([poll('control/local'), poll(queue)]);
    expect((await door.call('PollActivityTaskQueue', twice)).code).toBe(status.INVALID_ARGUMENT);
    expect((await door.call('PollActivityTaskQueue', Buffer.from('garbage'))).code).toBe(status.INVALID_ARGUMENT);
  });

  test('would be passed by Temporal itself', async () => {
    const direct = client(stage.settings.temporalAddress, null);
    expect((await direct.call('ListNamespaces', Buffer.alloc(0))).code).toBe(0);
    const foreign = await stage.dispatch(seatOfPair('somebody'), 'raw');
    const stolen = await direct.call('PollActivityTaskQueue', poll(executorQueue(seatOfPair('somebody'))));
    expect(tokenOf(stolen.bytes).length).toBeGreaterThan(0);
    await foreign.terminate();
  });
});

describe('[inv-05] whom the door does not let in', () => {
  test('is whoever has no bearer, a forged, an expired or a revoked one, or one of another tenant', async () => {
    const { record, queue, bearer } = await ownSeat('bearers');
    const expired = await stage.credential({ pair: 'bearers', expiresAt: Date.now() - 1_000 });
    const revoked = await stage.credential({ pair: 'bearers' });
    await stage.control.revokeCredential('local', revoked.record.id);
    const bad: Readonly<Record<string, string | null>> = {
      none: null,
      forged: `pc1.local.${record.id}.${'A'.repeat(43)}`,
      'of another key': makeBearer(Buffer.alloc(32, 7), 'local', record.id),
      'under another tenant': bearer.replace('pc1.local.', 'pc1.acme.'),
      'of no record': makeBearer(stage.gatewayKey, 'local', 'no-such-record'),
      'of an unknown tenant': makeBearer(stage.gatewayKey, 'nowhere', record.id),
      expired: expired.bearer,
      revoked: revoked.bearer,
    };
    for (const [what, one] of Object.entries(bad)) {
      const answer = await client(address, one).call('PollActivityTaskQueue', poll(queue));
      expect(refusal(answer), what).toBe('UNAUTHENTICATED unauthenticated');
    }
  });

  test("is an agent: a reviewer's credential polls no queue and answers no task", async () => {
    const mine = await ownSeat('agents');
    const handle = await stage.dispatch(mine.seat, 'raw');
    const sealed = tokenOf((await mine.door.call('PollActivityTaskQueue', poll(mine.queue))).bytes);
    const agents = [
      await stage.credential({ pair: 'agents', use: 'agent', role: 'sentinel' }),
      await stage.credential({ pair: 'agents', use: 'agent', role: 'forge' }),
      await stage.credential({ pair: '', use: 'operator', role: 'operator', workspace: '' }),
    ];
    for (const { bearer } of agents) {
      const door = client(address, bearer);
      expect(refusal(await door.call('PollActivityTaskQueue', poll(mine.queue)))).toBe('PERMISSION_DENIED not_allowed');
      const answer = await door.call('RespondActivityTaskCompleted', completion(sealed, executorReport()));
      expect(refusal(answer)).toBe('PERMISSION_DENIED not_allowed');
    }
    await mine.door.call('RespondActivityTaskCompleted', completion(sealed, executorReport()));
    await handle.result();
  });
});

describe('[inv-19] what comes out of a workspace', () => {
  test('ends the run as failed when it is no report', async () => {
    for (const [n, bad] of [{ passed: true }, 'approved', { ...executorReport(), exit_code: 1.5 }, null].entries()) {
      const { seat, door, queue } = await ownSeat(`no-report-${n}`);
      const handle = await stage.dispatch(seat, 'raw');
      const sealed = tokenOf((await door.call('PollActivityTaskQueue', poll(queue))).bytes);
      const answer = await door.call('RespondActivityTaskCompleted', completion(sealed, bad));
      expect(refusal(answer)).toBe('INVALID_ARGUMENT schema_invalid');
      await expect(handle.result()).rejects.toMatchObject({ cause: { cause: { type: 'schema_invalid' } } });
    }
  });

  test('would reach the workflow whatever it is without the door', async () => {
    const { seat, queue } = await ownSeat('no-report-direct');
    const handle = await stage.dispatch(seat, 'raw');
    const direct = client(stage.settings.temporalAddress, null);
    const token = tokenOf((await direct.call('PollActivityTaskQueue', poll(queue))).bytes);
    await direct.call('RespondActivityTaskCompleted', completion(token, { passed: true }));
    await expect(handle.result()).resolves.toEqual({ passed: true });
  });

  test('is bounded: heartbeat details by their schema, a failure to a code and a sentence', async () => {
    const { seat, door, queue } = await ownSeat('failures');
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
    const { door, queue } = await ownSeat('sizes');
    const huge = completion(Buffer.alloc(64), { text: 'x'.repeat(5 * 1024 * 1024) });
    expect((await door.call('RespondActivityTaskCompleted', huge)).code).toBe(status.RESOURCE_EXHAUSTED);
    const parked = Array.from({ length: 8 }, () => door.start('PollActivityTaskQueue', poll(queue)));
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
