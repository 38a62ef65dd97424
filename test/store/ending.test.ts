import { expect, test } from 'vitest';
import { keysOf } from '../../schemas/keys.ts';
import type { TaskEvent } from '../../schemas/verify/task.ts';
import { describeStores } from '../support/store-kinds.ts';
import { useStoreStage } from '../support/store-stage.ts';
import { admitted, endingOf } from '../support/task-fixtures.ts';

const RUNNING: TaskEvent = { type: 'status', state: 'working', phase: 'running', detail: '', outcome: null };

describeStores('the end of a task', ({ program }) => {
  const stage = useStoreStage(program);
  let pairs = 0;
  /** A pair of its own for each test. */
  const nextPair = () => `T-${(pairs += 1)}`;

  test('[inv-06] result, pointer, claim, audit entry and terminal event are there together', async () => {
    const { gateway, control, reader } = stage();
    const pair = nextPair();
    const admission = await admitted(gateway, { pair });
    const { accepted } = admission;
    const seat = { tenant: 'local', pair, role: 'forge', workspaceGeneration: 1 } as const;
    await control.takePlace(seat, accepted.workflowId);
    const before = await control.readAuditHead('local');
    const ending = endingOf(admission);
    await control.endTask(ending);
    expect(await control.readResult('local', accepted.taskId)).toEqual(ending.result);
    expect(await control.readVerification('local', pair)).toMatchObject({ taskId: accepted.taskId, satisfied: true });
    expect(await control.readTask('local', accepted.taskId)).toMatchObject({ state: 'completed', seq: 2 });
    const head = await control.readAuditHead('local');
    expect(head.n).toBe(before.n + 1);
    expect(await control.readAuditEntry('local', head.n)).toMatchObject({
      digest: head.digest,
      entry: { refs: { task: accepted.taskId }, previous: before.digest },
    });
    expect(await control.takePlace(seat, 'next')).toMatchObject({ rank: 0 });
    expect(await reader.readResult('local', accepted.taskId)).toEqual(ending.result);
  });

  test('[inv-09] is absorbing: late events, chunks and other results change nothing', async () => {
    const { gateway, control, gatewayConnection } = stage();
    const pair = nextPair();
    const admission = await admitted(gateway, { pair });
    const { taskId } = admission.accepted;
    await control.endTask(endingOf(admission, 'executor_lost'));
    const before = await gateway.readTask('local', taskId);
    expect(await gateway.appendEvent('local', taskId, { source: 'stdout', offset: 0 }, RUNNING)).toBeNull();
    expect(await control.appendEvent('local', taskId, { source: 'control', offset: 9 }, RUNNING)).toBeNull();
    await expect(gateway.writeChunk('local', taskId, 'stdout', 0, Buffer.from('late'))).rejects.toMatchObject({
      code: 'state_conflict',
    });
    await expect(control.endTask(endingOf(admission, 'completed'))).rejects.toMatchObject({ code: 'state_conflict' });
    expect(await gateway.readTask('local', taskId)).toEqual(before);
    expect(await gateway.readResult('local', taskId)).toMatchObject({ status: 'executor_lost' });
    expect(await gatewayConnection.run((redis) => redis.hget(keysOf('local').task(taskId), 'refused'))).toBe('2');
  });

  test('[inv-08] repeated with the same result is a no-op, one audit entry and one event', async () => {
    const { gateway, control } = stage();
    const pair = nextPair();
    const admission = await admitted(gateway, { pair });
    const before = await control.readAuditHead('local');
    await Promise.all(Array.from({ length: 5 }, () => control.endTask(endingOf(admission))));
    await control.endTask(endingOf(admission));
    expect((await control.readAuditHead('local')).n).toBe(before.n + 1);
    expect(await gateway.readEvents('local', admission.accepted.taskId, 0, 10)).toHaveLength(2);
  });

  test('an older result that comes late, and a rejected one, leave the newer pointer', async () => {
    const { gateway, control } = stage();
    const pair = nextPair();
    const older = await admitted(gateway, { pair });
    const newer = await admitted(gateway, { pair, attempt: 2 });
    const rejected = await admitted(gateway, { pair, attempt: 3 });
    await control.endTask(endingOf(newer));
    await control.endTask(endingOf(older, 'completed'));
    await control.endTask(endingOf(rejected, 'rejected'));
    expect(await control.readVerification('local', pair)).toMatchObject({
      taskId: newer.accepted.taskId,
      sequence: 2,
    });
  });

  test('[inv-09] a task that was released cannot be ended with a result', async () => {
    const { gateway, control } = stage();
    const pair = nextPair();
    const admission = await admitted(gateway, { pair });
    await gateway.releaseClaim(admission.accepted, admission.message.hash);
    await expect(control.endTask(endingOf(admission))).rejects.toMatchObject({ code: 'state_conflict' });
    expect(await control.readResult('local', admission.accepted.taskId)).toBeNull();
  });

  test('many at once leave one unbroken audit chain', async () => {
    const { gateway, control } = stage();
    const pair = nextPair();
    const admissions = [];
    for (let attempt = 1; attempt <= 10; attempt += 1) admissions.push(await admitted(gateway, { pair, attempt }));
    const before = await control.readAuditHead('local');
    await Promise.all(admissions.map((admission) => control.endTask(endingOf(admission))));
    let head = await control.readAuditHead('local');
    expect(head.n).toBe(before.n + 10);
    while (head.n > before.n) {
      const entry = await control.readAuditEntry('local', head.n);
      expect(entry?.digest).toBe(head.digest);
      head = { n: head.n - 1, digest: entry!.entry.previous };
    }
    expect(head.digest).toBe(before.digest);
  });
});
