import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { hasEnded } from '../../client/watch.ts';
import { pollUntil } from '../support/poll.ts';
import { FAILING, PASSING, PROGRAMS, running, STUBBORN_MARKER } from './programs.ts';
import { makeRepository, processesWith, seat, startStack, untilAtTheDoor, type Seated, type Stack } from './stage.ts';

let stack: Stack;
/** One workspace for all; each test asks for a program of its own or with an attempt of its own. */
let at: Seated;

beforeAll(async () => {
  stack = await startStack();
  at = await seat(stack, makeRepository(stack, 'programs', PROGRAMS));
});
afterAll(async () => {
  await at.leave();
  await stack.close();
});
// A test that killed something ends when it is back; the executor is then at the door within seconds.
beforeEach(async () => {
  await stack.awaitReady();
  await untilAtTheDoor(stack, at.opened.pair);
});

let attempts = 1;
/** Asks anew, whatever other tests asked. */
function ask(program: string, change: Parameters<Seated['ask']>[0] = {}) {
  attempts += 1;
  return at.ask({ argv: running(program), attempt: attempts, ...change });
}

/** Waits until the command has printed something, so that it is certainly under way. */
async function untilOutput(id: string): Promise<void> {
  await pollUntil(
    async () => (await at.reviewer.getTask(id, 0)).metadata.events?.some(({ event }) => event.type === 'output'),
    { what: 'the first output' },
  );
}

test('[inv-08] the same request runs once, its answer is reused, and another attempt runs again', async () => {
  const same = { argv: running('passing') };
  const [first, twin] = await Promise.all([at.ask(same), at.ask(same)]);
  expect(twin.id).toBe(first.id);
  const { result } = await at.ended(first);
  expect(result).toMatchObject({ status: 'completed', satisfied: true, attestation: 'verifier', exit_code: 0 });
  expect(result?.tests).toMatchObject({ executed: 2, passed: 2, provenance: 'reporter_file' });
  expect(result?.sandbox).toMatchObject({ containment: 'bubblewrap', network: 'none' });
  expect(result?.subject.tree_after).toBe(result?.subject.tree_before);
  expect((await at.ask(same)).id).toBe(first.id);
  const again = await ask('passing');
  expect(again.id).not.toBe(first.id);
  expect((await at.ended(again)).result?.satisfied).toBe(true);
});

test('[inv-08] a messageId with another body is refused and runs nothing', async () => {
  const same = { argv: running('passing'), attempt: 1_000 };
  const task = await at.ask(same, 'message-1');
  expect((await at.ask(same, 'message-1')).id).toBe(task.id);
  const other = at.ask({ ...same, timeout_secs: 61 }, 'message-1');
  await expect(other).rejects.toMatchObject({ code: 'message_id_conflict' });
  await at.ended(task);
});

test('[inv-07] tests that fail do not satisfy, and are no failure of the run', async () => {
  const { state, result } = await at.ended(await ask('failing'));
  expect(state).toBe('completed');
  expect(result).toMatchObject({ status: 'completed', satisfied: false, exit_code: 1 });
  expect(result?.tests).toMatchObject({ executed: 3, failed: 1 });
});

test('[inv-14] a time-out ends every descendant, however it detached, and never satisfies', async () => {
  const task = await ask('stubborn', { timeout_secs: 3 });
  await untilDetached();
  const { result } = await at.ended(task);
  expect(result).toMatchObject({ status: 'timed_out', timed_out: true, satisfied: false });
  expect(processesWith(STUBBORN_MARKER)).toEqual([]);
});

test('[inv-14] a cancelled run says so when its last process is gone', async () => {
  const task = await ask('stubborn');
  await untilDetached();
  await at.reviewer.cancelTask(task.id);
  const { state, result } = await at.ended(task);
  expect(state).toBe('canceled');
  expect(result).toMatchObject({ status: 'cancelled', satisfied: false });
  expect(processesWith(STUBBORN_MARKER)).toEqual([]);
  await expect(at.reviewer.cancelTask(task.id)).resolves.toMatchObject({ state: 'canceled' });
});

async function untilDetached(): Promise<void> {
  await pollUntil(() => processesWith(STUBBORN_MARKER).length >= 3, {
    what: 'the detached processes',
    deadlineMs: 15_000,
  });
}

test('[inv-07] [inv-08] an absent executor is unavailable, and that is never replayed as an answer', async () => {
  const repository = makeRepository(stack, 'comes-late', PASSING);
  const early = await seat(stack, repository, false);
  const unavailable = await early.ended(await early.ask());
  expect(unavailable.state).toBe('failed');
  expect(unavailable.result).toMatchObject({ status: 'executor_unavailable', satisfied: false, tests: 'unknown' });
  await early.leave();
  const late = await seat(stack, repository);
  const task = await late.ask();
  expect(task.id).not.toBe(unavailable.id);
  expect((await late.ended(task)).result?.satisfied).toBe(true);
  await late.leave();
});

test('[inv-07] an executor that is killed under way has lost its run', async () => {
  const task = await ask('slow-30');
  await untilOutput(task.id);
  const executors = processesWith('workers/executor/main').filter(isInside);
  expect(executors.length).toBeGreaterThan(0);
  for (const pid of executors) process.kill(pid, 'SIGKILL');
  const { state, result } = await at.ended(task);
  expect(state).toBe('failed');
  expect(result).toMatchObject({ status: 'executor_lost', satisfied: false, exit_code: null });
});

test('[inv-18] a gateway, a control worker and a store that are killed under way lose no run', async () => {
  const task = await ask('slow-9');
  await untilOutput(task.id);
  await stack.killAndAwait('gateway');
  await stack.killAndAwait('control');
  await stack.killAndAwait('store');
  expect((await at.ended(task)).result).toMatchObject({ status: 'completed', satisfied: true });
});

test('[inv-18] a Temporal server that is killed under way loses no run', async () => {
  const task = await ask('slow-5');
  await untilOutput(task.id);
  await stack.killAndAwait('temporal');
  expect((await at.ended(task)).result).toMatchObject({ status: 'completed', satisfied: true });
});

test('[inv-06] a run whose store is away at its end satisfies nothing until it is kept', async () => {
  const task = await ask('slow-3');
  await untilOutput(task.id);
  const store = stack.pid('store');
  process.kill(store, 'SIGSTOP');
  try {
    await expect(at.reviewer.getTask(task.id)).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(ask('passing')).rejects.toMatchObject({ code: 'store_unavailable' });
  } finally {
    process.kill(store, 'SIGCONT');
  }
  expect((await at.ended(task)).result).toMatchObject({ status: 'completed', satisfied: true });
});

test('[inv-13] a run whose workflow was terminated is found by the reconciler, and the same request runs again', async () => {
  const same = { argv: running('slow-2') };
  const task = await at.ask(same);
  await untilOutput(task.id);
  const temporal = await stack.temporal();
  try {
    const { task: snapshot } = await stack.operator.showTask(task.id);
    await temporal.client.workflow.getHandle(snapshot.workflowId).terminate('test');
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
  const again = await at.ask(same);
  expect(again.id).not.toBe(task.id);
  expect((await at.ended(again)).result).toMatchObject({ status: 'completed', satisfied: true });
});

test('the command answers with the exit codes of its documentation', async () => {
  const passing = makeRepository(stack, 'cli-passing', PASSING);
  const failing = makeRepository(stack, 'cli-failing', FAILING);
  const verify = async (repository: string, ...flags: readonly string[]) => {
    const { code, stdout } = await stack.cli(
      'verify',
      '--repo',
      repository,
      '--json',
      ...flags,
      '--',
      'node',
      '--test',
    );
    return { code, result: JSON.parse(stdout) as Readonly<Record<string, unknown>> };
  };
  const satisfied = await verify(passing);
  expect(satisfied).toMatchObject({
    code: 0,
    result: { schema: 'portcullis/v1', kind: 'VerifyResult', status: 'completed', satisfied: true, persisted: true },
  });
  const again = await verify(passing, '--again');
  expect(again.code).toBe(0);
  expect(again.result['task_id']).not.toBe(satisfied.result['task_id']);
  expect((await verify(failing)).code).toBe(3);
  const refused = await stack.cli('verify', '--repo', passing, '--json', '--', 'node', '--test', '--inspect');
  expect(refused.code).toBe(3);
  expect(JSON.parse(refused.stdout)).toMatchObject({ status: 'rejected', satisfied: false });
  expect((await stack.cli('verify', '--repo', stack.root, '--', 'node', '--test')).code).toBe(2);
  expect((await stack.cli('verify', '--repo', passing)).code).toBe(2);
});

test('[inv-05] what is not committed is seen in a live tree only, and its record says that no gate takes it', async () => {
  const repository = makeRepository(stack, 'cli-live', PASSING);
  writeFileSync(
    join(repository, 'uncommitted.test.mjs'),
    "import { test } from 'node:test'; test('x', () => { throw 1; });\n",
  );
  const asked = ['--repo', repository, '--cwd', 'worktree', '--json', '--', 'node', '--test'];
  const { code, stdout } = await stack.cli('verify', ...asked);
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    attestation: 'producer',
    tests: { executed: 3, failed: 1 },
    gate_grade: { eligible: false, reasons: ['producer_attestation', 'worktree'] },
    executor: { role: 'forge' },
  });
});

/** Whether a process descends from the shared workspace's outermost one. */
function isInside(pid: number): boolean {
  const parents = processParents();
  for (let now = pid; now > 1; now = parents.get(now) ?? 0) if (now === at.workspace?.pid) return true;
  return false;
}

function processParents(): ReadonlyMap<number, number> {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  return new Map(lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]));
}
