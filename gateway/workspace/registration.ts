/** What an executor says of itself: that it has started, and that a run has. From the two, lost runs are told. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { portcullisError } from '../../schemas/errors.ts';
import type { Seat } from '../../schemas/queues.ts';
import { VERIFY_SIGNALS } from '../../schemas/verify/activities.ts';
import type { RunStarted } from '../../schemas/workspace-api.ts';
import { temporalFailure } from '../temporal.ts';
import type { GatewayContext } from '../context.ts';
import { openTaskOf } from './task.ts';

/**
 * An executor came up. Runs that an earlier boot of its seat started died with that boot: their workflows are told now, and
 * need not wait for the heartbeat timeout. @throws `store_unavailable`, `temporal_unavailable`; repeat it then
 */
export async function registerExecutor(ctx: GatewayContext, seat: Seat, bootId: string): Promise<void> {
  const lost = await ctx.store.startedByOthers(seat, bootId);
  await Promise.all(lost.map((workflowId) => signalLost(ctx, workflowId)));
}

async function signalLost(ctx: GatewayContext, workflowId: string): Promise<void> {
  try {
    await ctx.temporal.workflow.getHandle(workflowId).signal(VERIFY_SIGNALS.executorLost);
    ctx.logger.warn({ workflowId }, 'the executor started again without this run: it is lost');
  } catch (thrown) {
    // It has ended meanwhile: there is nothing to lose.
    if (thrown instanceof WorkflowNotFoundError) return;
    throw temporalFailure(thrown);
  }
}

/** @throws `not_found`, `state_conflict`, `store_unavailable` */
export async function recordRunStarted(
  ctx: GatewayContext,
  seat: Seat,
  taskId: string,
  run: RunStarted,
): Promise<void> {
  const task = await openTaskOf(ctx.store, seat, taskId);
  if (task.workflowId !== run.workflowId) throw portcullisError('not_found', { what: 'run of the task', id: taskId });
  await ctx.store.recordStarted(seat, run.workflowId, run.bootId);
}
