import { ListTasksRequest } from '@a2a-js/sdk';
import { describe, expect, test } from 'vitest';
import type { TaskPage } from '../../activities/store/port.ts';
import { digestOf } from '../../schemas/digest.ts';
import type { TaskSnapshot, TaskState } from '../../schemas/verify/task.ts';
import { listPairTasks, type ListSource } from './list.ts';

const STATES = ['submitted', 'working', 'completed', 'failed', 'canceled'] as const;

function snapshot(n: number, change: Partial<TaskSnapshot> = {}): TaskSnapshot {
  const state: TaskState = STATES[n % STATES.length] ?? 'working';
  return {
    schema: 'portcullis/task/v1',
    taskId: `task-${n}`,
    contextId: n % 2 === 0 ? 'even' : 'odd',
    tenant: 't',
    pair: 'p',
    owner: { role: 'sentinel', principal: 'c1' },
    executor: { role: 'verifier', workspaceGeneration: 1 },
    workflowId: `w-${n}`,
    requestDigest: digestOf('request', { n }),
    state,
    phase: 'accepted',
    detail: '',
    outcome: null,
    seq: 1,
    createdAt: 1000 + n,
    // Not in the order of creation: a list is ordered by status.
    updatedAt: 1_000_000 + ((n * 7) % 50) * 1000,
    ...change,
  };
}

/** Tasks of one pair, served as the store does: newest first, by creation. */
function source(tasks: readonly TaskSnapshot[]): ListSource {
  const ordered = tasks.toSorted((a, b) => b.createdAt - a.createdAt);
  return {
    listTasks: (_tenant: string, _pair: string, { limit, before }: TaskPage) =>
      Promise.resolve(ordered.filter(({ createdAt }) => before === null || createdAt < before).slice(0, limit)),
    readResult: () => Promise.resolve(null),
  };
}

const list = (tasks: readonly TaskSnapshot[], params: object = {}) =>
  listPairTasks(source(tasks), 't', 'p', ListTasksRequest.fromJSON(params));

async function everything(tasks: readonly TaskSnapshot[], params: object): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let pageToken = ''; ;) {
    const page = await list(tasks, { ...params, pageToken });
    ids.push(...page.tasks.map(({ id }) => id));
    if (page.nextPageToken === '') return ids;
    pageToken = page.nextPageToken;
  }
}

const many = Array.from({ length: 523 }, (_, n) => snapshot(n));

describe('ListTasks', () => {
  test.each([1, 7, 50, 100])('in pages of %d has every task once, newest status first', async (pageSize) => {
    const few = many.slice(0, 120);
    const expected = few
      .toSorted((a, b) => b.updatedAt - a.updatedAt || (a.taskId < b.taskId ? -1 : 1))
      .map(({ taskId }) => taskId);
    expect(await everything(few, { pageSize })).toEqual(expected);
  });

  test('says how many match and how many it shows', async () => {
    expect(await list(many)).toMatchObject({ pageSize: 50, totalSize: 523 });
    expect(await list([])).toEqual({ tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 });
  });

  test('narrows by context, state and time, together too', async () => {
    const ids = await everything(many, {
      contextId: 'even',
      status: 'TASK_STATE_COMPLETED',
      statusTimestampAfter: new Date(1_020_000).toISOString(),
      pageSize: 100,
    });
    const expected = many.filter(
      ({ contextId, state, updatedAt }) => contextId === 'even' && state === 'completed' && updatedAt >= 1_020_000,
    );
    expect(new Set(ids)).toEqual(new Set(expected.map(({ taskId }) => taskId)));
    expect(ids.length).toBeGreaterThan(0);
  });

  test('a status that changes between two pages neither repeats nor hides the others', async () => {
    const tasks = many.slice(0, 20);
    const first = await list(tasks, { pageSize: 10 });
    const moved = tasks.map((task) => (task.taskId === 'task-3' ? { ...task, updatedAt: 9_000_000 } : task));
    const second = await list(moved, { pageSize: 10, pageToken: first.nextPageToken });
    const ids = [...first.tasks, ...second.tasks].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set([...ids, 'task-3']).size).toBe(20);
  });

  test.each([
    [{ pageSize: 0 }, 'pageSize'],
    [{ pageSize: 101 }, 'pageSize'],
    [{ pageToken: 'nonsense' }, 'pageToken'],
    [{ statusTimestampAfter: 'yesterday' }, 'statusTimestampAfter'],
    [{ historyLength: -1 }, 'historyLength'],
    [{ status: 'TASK_STATE_WONDERFUL' }, 'status'],
  ])('[inv-19] %o is refused by name', async (params, path) => {
    await expect(list(many, params)).rejects.toMatchObject({ code: 'schema_invalid', details: { path } });
  });
});
