import { expect, test } from 'vitest';
import { keysOf } from '../../schemas/keys.ts';
import { requestDigest } from '../../schemas/verify/request.ts';
import { describeStores } from '../support/store-kinds.ts';
import { useStoreStage } from '../support/store-stage.ts';
import { admissionOf, admitted, endingOf, randomHex, resolvedRequest } from '../support/task-fixtures.ts';

describeStores('admission', ({ program }) => {
  const stage = useStoreStage(program);
  let pairs = 0;
  /** A pair of its own for each test. */
  const nextPair = () => `T-${(pairs += 1)}`;
  const view = (pair: string, request = resolvedRequest({ pair })) =>
    stage().gateway.viewClaim('local', pair, requestDigest(request));

  test('leaves request, snapshot, first event, list entry and an unconfirmed claim', async () => {
    const { gateway } = stage();
    const pair = nextPair();
    const { accepted, snapshot } = await admitted(gateway, { pair });
    expect(await gateway.readRequest('local', accepted.taskId)).toEqual(accepted);
    const task = await gateway.readTask('local', accepted.taskId);
    expect(task).toEqual({ ...snapshot, updatedAt: task?.updatedAt });
    expect(await gateway.readEvents('local', accepted.taskId, 0, 10)).toMatchObject([{ seq: 1 }]);
    expect(await gateway.listTasks('local', pair, { limit: 10, before: null })).toEqual([task]);
    expect(await gateway.unconfirmedClaims('local', 0, 100)).toContainEqual(accepted);
  });

  test('[inv-08] the same request under another messageId joins the run, accepted, open and answered', async () => {
    const { gateway, control } = stage();
    const pair = nextPair();
    const first = await admitted(gateway, { pair });
    const again = async () => gateway.admit(admissionOf(resolvedRequest({ pair }), await view(pair)));
    const { taskId } = first.accepted;
    expect(await again()).toEqual({ kind: 'joined', taskId, state: 'accepted' });
    await gateway.confirmStarted(first.accepted);
    expect(await again()).toEqual({ kind: 'joined', taskId, state: 'open' });
    await control.endTask(endingOf(first));
    expect(await again()).toEqual({ kind: 'joined', taskId, state: 'completed' });
    expect(await gateway.listTasks('local', pair, { limit: 10, before: null })).toHaveLength(1);
  });

  test('[inv-08] a repeated message is one task, and with another body a conflict', async () => {
    const { gateway, control } = stage();
    const pair = nextPair();
    const hash = randomHex();
    const admission = admissionOf(resolvedRequest({ pair }), await view(pair), hash);
    const { taskId } = admission.accepted;
    expect(await gateway.admit(admission)).toEqual({ kind: 'accepted', taskId });
    expect(await gateway.admit(admission)).toEqual({ kind: 'joined', taskId, state: 'accepted' });
    const other = resolvedRequest({ pair, attempt: 2 });
    expect(await gateway.admit(admissionOf(other, await view(pair, other), hash))).toEqual({
      kind: 'message_conflict',
    });
    await control.endTask(endingOf(admission));
    expect(await gateway.admit(admission)).toEqual({ kind: 'joined', taskId, state: 'completed' });
  });

  test('[inv-08] twenty at once from two gateways are one run', async () => {
    const { gateway, otherGateway } = stage();
    const pair = nextPair();
    const claim = await view(pair);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        [gateway, otherGateway][index % 2]!.admit(admissionOf(resolvedRequest({ pair }), claim)),
      ),
    );
    expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'joined')).toHaveLength(19);
  });

  test('[inv-08] another attempt, and an infrastructure outcome asked again, run again', async () => {
    const { gateway, control } = stage();
    const pair = nextPair();
    const first = await admitted(gateway, { pair });
    const attempt = await admitted(gateway, { pair, attempt: 2 });
    expect(attempt.accepted.taskId).not.toBe(first.accepted.taskId);
    await control.endTask(endingOf(first, 'executor_lost'));
    const again = await admitted(gateway, { pair });
    expect(again.n).toBe(2);
    expect(again.accepted.sequence).toBe(3);
  });

  test('a claim that moved since it was viewed is answered as moved, and nothing is left', async () => {
    const { gateway } = stage();
    const pair = nextPair();
    const stale = await view(pair);
    await admitted(gateway, { pair, attempt: 2 });
    const late = admissionOf(resolvedRequest({ pair }), stale);
    expect(await gateway.admit(late)).toEqual({ kind: 'moved' });
    expect(await gateway.readTask('local', late.accepted.taskId)).toBeNull();
    expect(await gateway.readRequest('local', late.accepted.taskId)).toBeNull();
  });

  test('a claim that expired before its request did moves on to the next n', async () => {
    const { gateway, control, gatewayConnection } = stage();
    const pair = nextPair();
    const first = await admitted(gateway, { pair });
    await control.endTask(endingOf(first));
    const claim = keysOf('local').claim(pair, first.accepted.requestDigest);
    await gatewayConnection.run((redis) => redis.pexpire(claim, 1));
    await expect.poll(() => gatewayConnection.run((redis) => redis.exists(claim))).toBe(0);
    expect((await admitted(gateway, { pair })).n).toBe(2);
  });

  test('two tasks of a pair never share the time of their creation, which pages them', async () => {
    const { gateway } = stage();
    const pair = nextPair();
    const { accepted, snapshot } = await admitted(gateway, { pair });
    const other = resolvedRequest({ pair, attempt: 2 });
    const claim = await view(pair, other);
    expect(claim.now).toBeGreaterThan(snapshot.createdAt);
    const late = admissionOf(other, { ...claim, now: accepted.acceptedAt });
    expect(await gateway.admit(late)).toEqual({ kind: 'moved' });
  });
});
