import { expect, test } from 'vitest';
import type { TaskEvent } from '../../schemas/verify/task.ts';
import { describeStores } from '../support/store-kinds.ts';
import { useStoreStage } from '../support/store-stage.ts';
import { admitted } from '../support/task-fixtures.ts';

const RUNNING: TaskEvent = { type: 'status', state: 'working', phase: 'running', detail: '', outcome: null };

describeStores('events of a task', ({ program }) => {
  const stage = useStoreStage(program);
  let pairs = 0;
  /** A pair of its own for each test. */
  const nextPair = () => `T-${(pairs += 1)}`;

  test('get numbers without gaps; a repeated one gets the number it has', async () => {
    const { gateway, control } = stage();
    const pair = nextPair();
    const { taskId } = (await admitted(gateway, { pair })).accepted;
    const output = (chunk: number): TaskEvent => ({ type: 'output', stream: 'stdout', chunk, bytes: 1 });
    expect(await control.appendEvent('local', taskId, { source: 'control', offset: 0 }, RUNNING)).toBe(2);
    expect(await gateway.appendEvent('local', taskId, { source: 'stdout', offset: 7 }, output(1))).toBe(3);
    expect(await gateway.appendEvent('local', taskId, { source: 'stdout', offset: 3 }, output(0))).toBe(4);
    expect(await gateway.appendEvent('local', taskId, { source: 'stdout', offset: 7 }, output(1))).toBe(3);
    expect(await gateway.readEvents('local', taskId, 1, 10)).toMatchObject([
      { seq: 2, event: RUNNING },
      { seq: 3, event: output(1) },
      { seq: 4, event: output(0) },
    ]);
    expect(await gateway.readEvents('local', taskId, 3, 10)).toMatchObject([{ seq: 4 }]);
    expect(await gateway.readEvents('local', taskId, 0, 2)).toHaveLength(2);
    expect(await gateway.readTask('local', taskId)).toMatchObject({ seq: 4, state: 'working', phase: 'running' });
  });

  test('of a task that was never admitted are refused by name', async () => {
    const { gateway } = stage();
    await expect(
      gateway.appendEvent('local', 'nothing', { source: 'control', offset: 0 }, RUNNING),
    ).rejects.toMatchObject({ code: 'not_found' });
  });

  test('[inv-06] no event ends a task without its result', async () => {
    const { gateway, control } = stage();
    const pair = nextPair();
    const { taskId } = (await admitted(gateway, { pair })).accepted;
    const end: TaskEvent = { ...RUNNING, state: 'completed', outcome: 'completed' };
    for (const store of [gateway, control]) {
      await expect(store.appendEvent('local', taskId, { source: 'control', offset: 0 }, end)).rejects.toMatchObject({
        code: 'state_conflict',
      });
    }
    expect(await gateway.readTask('local', taskId)).toMatchObject({ state: 'submitted', seq: 1 });
  });
});
