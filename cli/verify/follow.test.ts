import { expect, test } from 'vitest';
import type { VerifyTask, VerifyTaskState } from '../../client/a2a.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { followTask } from './follow.ts';

const inState = (state: VerifyTaskState) => ({ id: 't1', state, detail: '' }) as VerifyTask;

/** Follows a task, is interrupted, and finds the task in these states one after the other. */
async function interrupted(cancel: () => Promise<VerifyTask>, later: readonly VerifyTaskState[] = []) {
  const controller = new AbortController();
  const said: string[] = [];
  const states = [...later];
  const client = {
    async *watch() {
      await Promise.resolve();
      controller.abort('SIGINT');
      yield* [];
      throw portcullisError('interrupted');
    },
    cancelTask: cancel,
    getTask: () => Promise.resolve(inState(states.shift() ?? 'working')),
  };
  const context = { signal: controller.signal, output: { progress: (text: string) => void said.push(text) } };
  await expect(followTask(client as never, context as never, inState('working'))).rejects.toMatchObject({
    code: 'interrupted',
  });
  return said.slice(1);
}

test('Ctrl-C says that the task was cancelled once it was', async () => {
  expect(await interrupted(() => Promise.resolve(inState('canceled')))).toEqual([
    'cancelled   the task t1 was cancelled',
  ]);
  expect(await interrupted(() => Promise.resolve(inState('working')), ['working', 'canceled'])).toEqual([
    'cancelled   the task t1 was cancelled',
  ]);
});

test('and does not when it was not', async () => {
  const over = () => Promise.reject(portcullisError('task_not_cancelable', { state: 'completed' }));
  expect(await interrupted(over, ['completed'])).toEqual(['not cancelled: the task t1 had ended as completed']);
  const away = () => Promise.reject(portcullisError('gateway_unavailable', { url: 'x' }));
  expect(await interrupted(away)).toEqual(['not cancelled: the task t1 could not be reached (gateway_unavailable)']);
});

test('how it ended is left to the result', async () => {
  const said: string[] = [];
  const event = { type: 'status', state: 'failed', phase: 'ended', detail: 'not_completed, exit_code', outcome: null };
  const client = {
    async *watch() {
      await Promise.resolve();
      yield { kind: 'event', numbered: { seq: 1, at: 1, event } };
      yield { kind: 'end', task: inState('failed') };
    },
  };
  const output = { progress: (text: string) => void said.push(text) };
  await followTask(client as never, { signal: new AbortController().signal, output } as never, inState('working'));
  expect(said.map((text) => text.trim())).toEqual(['task        t1', 'ended']);
});
