/** What the door does not pass, and whom it does not let in. */
import { status } from '@grpc/grpc-js';
import proto from '@temporalio/proto';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { makeBearer } from '../../gateway/authority/bearer.ts';
import { DOOR_RPCS, isDoorMethod } from '../../gateway/door/rpcs.ts';
import { executorQueue } from '../../schemas/queues.ts';
import { executorReport } from '../support/verify-fixture.ts';
import { ownSeat, refusal, testClient } from './own-seat.ts';
import { openStage, seatOfPair, type DoorStage } from './stage.ts';
import { completion, poll, tokenOf } from './task-token.ts';

let stage: DoorStage;
let address: string;

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
  address = `127.0.0.1:${(await stage.gateway()).port}`;
});
afterAll(() => stage.close());

describe('[inv-05] what the door does not pass', () => {
  test('is every method but nine, on every service', async () => {
    const { door } = await ownSeat(stage, address, 'methods');
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
    const { door, queue } = await ownSeat(stage, address, 'queues');
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
    const direct = testClient(stage.settings.temporalAddress, null);
    expect((await direct.call('ListNamespaces', Buffer.alloc(0))).code).toBe(0);
    const foreign = await stage.dispatch(seatOfPair('somebody'), 'raw');
    const stolen = await direct.call('PollActivityTaskQueue', poll(executorQueue(seatOfPair('somebody'))));
    expect(tokenOf(stolen.bytes).length).toBeGreaterThan(0);
    await foreign.terminate();
  });
});

describe('[inv-05] whom the door does not let in', () => {
  test('is whoever has no bearer, a forged, an expired or a revoked one, or one of another tenant', async () => {
    const { record, queue, bearer } = await ownSeat(stage, address, 'bearers');
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
      const answer = await testClient(address, one).call('PollActivityTaskQueue', poll(queue));
      expect(refusal(answer), what).toBe('UNAUTHENTICATED unauthenticated');
    }
  });

  test("is an agent: a reviewer's credential polls no queue and answers no task", async () => {
    const mine = await ownSeat(stage, address, 'agents');
    const handle = await stage.dispatch(mine.seat, 'raw');
    const sealed = tokenOf((await mine.door.call('PollActivityTaskQueue', poll(mine.queue))).bytes);
    const agents = [
      await stage.credential({ pair: 'agents', use: 'agent', role: 'sentinel' }),
      await stage.credential({ pair: 'agents', use: 'agent', role: 'forge' }),
      await stage.credential({ pair: '', use: 'operator', role: 'operator', workspace: '' }),
    ];
    for (const { bearer } of agents) {
      const door = testClient(address, bearer);
      expect(refusal(await door.call('PollActivityTaskQueue', poll(mine.queue)))).toBe('PERMISSION_DENIED not_allowed');
      const answer = await door.call('RespondActivityTaskCompleted', completion(sealed, executorReport()));
      expect(refusal(answer)).toBe('PERMISSION_DENIED not_allowed');
    }
    await mine.door.call('RespondActivityTaskCompleted', completion(sealed, executorReport()));
    await handle.result();
  });

  test("is a producer's executor at a verifier's queue: it gets none of its tasks and answers none", async () => {
    const mine = await ownSeat(stage, address, 'seats');
    const handle = await stage.dispatch(mine.seat, 'raw');
    const producer = testClient(address, (await stage.credential({ pair: 'seats', role: 'forge' })).bearer);
    const poached = await producer.call('PollActivityTaskQueue', poll(mine.queue));
    expect(refusal(poached)).toBe('PERMISSION_DENIED queue_foreign');
    const sealed = tokenOf((await mine.door.call('PollActivityTaskQueue', poll(mine.queue))).bytes);
    const green = await producer.call('RespondActivityTaskCompleted', completion(sealed, executorReport()));
    expect(refusal(green)).toBe('NOT_FOUND token_unsealed');
    await mine.door.call('RespondActivityTaskCompleted', completion(sealed, executorReport({ exit_code: 1 })));
    expect(await handle.result()).toMatchObject({ exit_code: 1 });
  });
});
