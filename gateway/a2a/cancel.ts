/** CancelTask: asks the workflow, waits a moment for the end, and answers what is true then, whatever it is. */
import { WorkflowNotFoundError } from '@temporalio/common';
import { portcullisError } from '../../schemas/errors.ts';
import { isTerminalTaskState, type TaskSnapshot } from '../../schemas/verify/task.ts';
import type { GatewayContext } from '../context.ts';
import type { TaskFeed } from './feed.ts';
import { startVerify } from './start.ts';

const WAIT_MS = 5_000;
const CANCEL_DEADLINE_MS = 3_000;

/**
 * Only the workflow writes CANCELED, and only when the last process is gone. Cancelling a cancelled task is done already.
 * @throws `task_not_cancelable` for one that ended otherwise, `temporal_unavailable`
 */
export async function cancelTask(
  ctx: GatewayContext,
  feed: TaskFeed,
  task: TaskSnapshot,
  signal: AbortSignal,
): Promise<TaskSnapshot> {
  if (task.state === 'canceled') return task;
  if (isTerminalTaskState(task.state)) throw portcullisError('task_not_cancelable', { state: task.state });
  await requestCancel(ctx, task);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]);
  await feed.untilEnded(task.tenant, task.taskId, task.seq, patience);
  return (await ctx.store.readTask(task.tenant, task.taskId)) ?? task;
}

async function requestCancel(ctx: GatewayContext, task: TaskSnapshot): Promise<void> {
  if ((await cancelWorkflow(ctx, task)) === 'asked') return;
  // Accepted and never started: it is started now, so that it can end as cancelled by its own hand.
  const accepted = await ctx.store.readRequest(task.tenant, task.taskId);
  if (accepted === null) return;
  await startVerify(ctx, accepted);
  await cancelWorkflow(ctx, task);
}

async function cancelWorkflow(ctx: GatewayContext, task: TaskSnapshot): Promise<'asked' | 'not there'> {
  try {
    await ctx.temporal.withDeadline(Date.now() + CANCEL_DEADLINE_MS, () =>
      ctx.temporal.workflow.getHandle(task.workflowId).cancel(),
    );
    return 'asked';
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError) return 'not there';
    throw portcullisError('temporal_unavailable', { reason: 'it did not take the cancellation' }, thrown);
  }
}
