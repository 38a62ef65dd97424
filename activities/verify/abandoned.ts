/**
 * Ends the tasks of verifies that are closed without having ended them: terminated by an operator, failed, or lost with a
 * namespace. What happened to such a run is unknown, so it is `executor_lost` and satisfies nothing.
 */
import { verifyResult } from '../../policies/verify/result.ts';
import { isTerminalTaskState } from '../../schemas/verify/task.ts';
import { parseVerifyWorkflowId } from '../../schemas/workflow-ids.ts';
import type { VerifyDependencies } from './dependencies.ts';
import { endRun } from './end.ts';

export interface ClosedVerify {
  readonly workflowId: string;
  readonly taskId: string;
  /** Milliseconds since the epoch. */
  readonly closedAt: number;
}

/** Lists verifies of a tenant that are closed and do not say that they ended their task. */
export type ListAbandoned = (tenant: string) => AsyncIterable<ClosedVerify>;

/** @returns how many tasks were ended */
export async function endAbandonedRuns(
  needs: VerifyDependencies,
  list: ListAbandoned,
  tenant: string,
): Promise<number> {
  let ended = 0;
  for await (const { workflowId, taskId, closedAt } of list(tenant)) {
    const [task, accepted] = await Promise.all([
      needs.store.readTask(tenant, taskId),
      needs.store.readRequest(tenant, taskId),
    ]);
    if (task === null || accepted === null || accepted.workflowId !== workflowId) continue;
    if (isTerminalTaskState(task.state)) continue;
    const current = await needs.store.readHead(tenant, accepted.request.pair);
    const end = { status: 'executor_lost', report: null, reason: 'workflow_closed' } as const;
    // The time of the closing, not of this look: a repeated ending has the same bytes.
    const result = verifyResult({ accepted, prepared: null, end, current, observedAt: closedAt });
    await endRun(needs, { accepted, n: parseVerifyWorkflowId(workflowId).n, result, offset: Number.MAX_SAFE_INTEGER });
    ended += 1;
  }
  return ended;
}
