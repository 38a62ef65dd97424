import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasEnded } from '../../client/watch.ts';
import { pollUntil } from '../support/poll.ts';
import { FAILING, PASSING, slow, stubborn } from './programs.ts';
import { makeRepository, processesWith, seat, startStack, untilAtTheDoor, type Seated, type Stack } from './stage.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

/** Plays in a workspace of its own for a repository of these files. */
async function inWorkspace(
  name: string,
  files: Readonly<Record<string, string>>,
  act: (at: Seated) => Promise<void>,
  launch = true,
) {
  const at = await seat(stack, makeRepository(stack, name, files), launch);
  try {
    await act(at);
  } finally {
    await at.leave();
  }
}

/** Waits until the command has printed something, so that it is certainly under way. */
async function untilOutput(at: Seated, id: string): Promise<void> {
  await pollUntil(
    async () => (await at.reviewer.getTask(id, 0)).metadata.events?.some(({ event }) => event.type === 'output'),
    { what: 'the first output' },
  );
}

test('[inv-08] the same request runs once, its answer is reused, and another attempt runs again', async () => {
  await inWorkspace('passing', PASSING, async (at) => {
    const [first, twin] = await Promise.all([at.ask(), at.ask()]);
    expect(twin.id).toBe(first.id);
    const { result } = await at.ended(first);
    expect(result).toMatchObject({ status: 'completed', satisfied: true, attestation: 'verifier', exit_code: 0 });
    expect(result?.tests).toMatchObject({ executed: 2, passed: 2, provenance: 'reporter_file' });
    expect(result?.sandbox).toMatchObject({ containment: 'bubblewrap', network: 'none' });
    expect(result?.subject.tree_after).toBe(result?.subject.tree_before);
    expect((await at.ask()).id).toBe(first.id);
    const again = await at.ask({ attempt: 2 });
    expect(again.id).not.toBe(first.id);
    expect((await at.ended(again)).result?.satisfied).toBe(true);
  });
});

test('[inv-08] a messageId with another body is refused and runs nothing', async () => {
  await inWorkspace('conflict', PASSING, async (at) => {
    const task = await at.ask({}, 'message-1');
    expect((await at.ask({}, 'message-1')).id).toBe(task.id);
    await expect(at.ask({ timeout_secs: 61 }, 'message-1')).rejects.toMatchObject({ code: 'message_id_conflict' });
    await at.ended(task);
  });
});

test('[inv-07] tests that fail do not satisfy, and are no failure of the run', async () => {
  await inWorkspace('failing', FAILING, async (at) => {
    const { state, result } = await at.ended(await at.ask());
    expect(state).toBe('completed');
    expect(result).toMatchObject({ status: 'completed', satisfied: false, exit_code: 1 });
    expect(result?.tests).toMatchObject({ executed: 3, failed: 1 });
  });
});

test('[inv-14] a time-out ends every descendant, however it detached, and never satisfies', async () => {
  const marker = `stubborn-${crypto.randomUUID()}`;
  await inWorkspace('times-out', stubborn(marker), async (at) => {
    const task = await at.ask({ timeout_secs: 3 });
    await pollUntil(() => processesWith(marker).length >= 3, { what: 'the detached processes', deadlineMs: 15_000 });
    const { result } = await at.ended(task);
    expect(result).toMatchObject({ status: 'timed_out', timed_out: true, satisfied: false });
    expect(processesWith(marker)).toEqual([]);
  });
});

test('[inv-14] a cancelled run says so when its last process is gone', async () => {
  const marker = `stubborn-${crypto.randomUUID()}`;
  await inWorkspace('cancelled', stubborn(marker), async (at) => {
    const task = await at.ask();
    await pollUntil(() => processesWith(marker).length >= 3, { what: 'the detached processes', deadlineMs: 15_000 });
    await at.reviewer.cancelTask(task.id);
    const { state, result } = await at.ended(task);
    expect(state).toBe('canceled');
    expect(result).toMatchObject({ status: 'cancelled', satisfied: false });
    expect(processesWith(marker)).toEqual([]);
    await expect(at.reviewer.cancelTask(task.id)).resolves.toMatchObject({ state: 'canceled' });
  });
});

test('[inv-07] an absent executor is unavailable, and nothing ran', async () => {
  await inWorkspace(
    'absent',
    PASSING,
    async (at) => {
      const { state, result } = await at.ended(await at.ask());
      expect(state).toBe('failed');
      expect(result).toMatchObject({ status: 'executor_unavailable', satisfied: false, tests: 'unknown' });
    },
    false,
  );
});

test('[inv-08] an infrastructure failure is never replayed as an answer', async () => {
  const repository = makeRepository(stack, 'comes-late', PASSING);
  const early = await seat(stack, repository, false);
  const unavailable = await early.ended(await early.ask());
  expect(unavailable.result?.status).toBe('executor_unavailable');
  await early.leave();
  const late = await seat(stack, repository);
  const task = await late.ask();
  expect(task.id).not.toBe(unavailable.id);
  expect((await late.ended(task)).result?.satisfied).toBe(true);
  await late.leave();
});

test('[inv-07] an executor that is killed under way has lost its run', async () => {
  await inWorkspace('lost', slow(30), async (at) => {
    const task = await at.ask();
    await untilOutput(at, task.id);
    const executors = processesWith('workers/executor/main').filter((pid) => isInside(pid, at));
    expect(executors.length).toBeGreaterThan(0);
    for (const pid of executors) process.kill(pid, 'SIGKILL');
    const { state, result } = await at.ended(task);
    expect(state).toBe('failed');
    expect(result).toMatchObject({ status: 'executor_lost', satisfied: false, exit_code: null });
  });
});

/** Whether a process descends from this workspace's outermost one. */
function isInside(pid: number, at: Seated): boolean {
  for (let now = pid; now > 1; now = parentOf(now)) if (now === at.workspace?.pid) return true;
  return false;
}

test('[inv-18] a gateway, a control worker and a store that are killed under way lose no run', async () => {
  await inWorkspace('survives', slow(12), async (at) => {
    const task = await at.ask();
    await untilOutput(at, task.id);
    await stack.killAndAwait('gateway');
    await stack.killAndAwait('control');
    await stack.killAndAwait('store');
    expect((await at.ended(task)).result).toMatchObject({ status: 'completed', satisfied: true });
  });
});

test('[inv-18] a Temporal server that is killed under way loses no run', async () => {
  await inWorkspace('temporal', slow(6), async (at) => {
    const task = await at.ask();
    await untilOutput(at, task.id);
    await stack.killAndAwait('temporal');
    expect((await at.ended(task)).result).toMatchObject({ status: 'completed', satisfied: true });
  });
});

test('[inv-06] a run whose store is away at its end satisfies nothing until it is kept', async () => {
  await inWorkspace('unpersisted', slow(3), async (at) => {
    const task = await at.ask();
    await untilOutput(at, task.id);
    const store = stack.pid('store');
    process.kill(store, 'SIGSTOP');
    try {
      await expect(at.reviewer.getTask(task.id)).rejects.toMatchObject({ code: 'store_unavailable' });
      await expect(at.ask({ attempt: 7 })).rejects.toMatchObject({ code: 'store_unavailable' });
    } finally {
      process.kill(store, 'SIGCONT');
    }
    expect((await at.ended(task)).result).toMatchObject({ status: 'completed', satisfied: true });
  });
});

test('[inv-13] a run whose workflow was terminated is found by the reconciler, and the same request runs again', async () => {
  await inWorkspace('terminated', slow(2), async (at) => {
    const task = await at.ask();
    await untilOutput(at, task.id);
    const temporal = await stack.temporal();
    try {
      const request = await stack.operator.showTask(task.id);
      await temporal.client.workflow.getHandle(request.task.workflowId).terminate('test');
      await pollUntil(
        async () => {
          await temporal.client.schedule.getHandle('reconcile/local').trigger();
          return hasEnded(await at.reviewer.getTask(task.id));
        },
        { what: 'the reconciler to end the task', deadlineMs: 30_000, everyMs: 1_000 },
      );
    } finally {
      await temporal.close();
    }
    const { result } = await at.reviewer.getTask(task.id);
    expect(result).toMatchObject({ status: 'executor_lost', satisfied: false });
    expect(result?.reasons).toContain('workflow_closed');
    // Its executor was told that the run is not its own any more, and starts anew.
    await untilAtTheDoor(stack, at.opened.pair);
    const again = await at.ask();
    expect(again.id).not.toBe(task.id);
    expect((await at.ended(again)).result).toMatchObject({ status: 'completed', satisfied: true });
  });
});

test('the command answers with the exit codes of its documentation', async () => {
  const passing = makeRepository(stack, 'cli-passing', PASSING);
  const failing = makeRepository(stack, 'cli-failing', FAILING);
  const satisfied = await stack.cli('verify', '--repo', passing, '--json', '--', 'node', '--test');
  expect(satisfied.code).toBe(0);
  expect(JSON.parse(satisfied.stdout)).toMatchObject({
    schema: 'portcullis/v1',
    kind: 'VerifyResult',
    status: 'completed',
    satisfied: true,
    persisted: true,
  });
  expect((await stack.cli('verify', '--repo', failing, '--json', '--', 'node', '--test')).code).toBe(3);
  const refused = await stack.cli('verify', '--repo', passing, '--json', '--', 'node', '--test', '--inspect');
  expect(refused.code).toBe(3);
  expect(JSON.parse(refused.stdout)).toMatchObject({ status: 'rejected', satisfied: false });
  expect((await stack.cli('verify', '--repo', stack.root, '--', 'node', '--test')).code).toBe(2);
  expect((await stack.cli('verify', '--repo', passing)).code).toBe(2);
});

function parentOf(pid: number): number {
  return processParents().get(pid) ?? 0;
}

function processParents(): ReadonlyMap<number, number> {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  return new Map(lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]));
}
