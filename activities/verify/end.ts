/** Persists how a run ended: result, pointer, claim, audit entry and terminal event in one step, read back. */
import { reuseSeconds, taskStateOf } from '../../policies/verify/task-state.ts';
import { digestOf } from '../../schemas/digest.ts';
import type { RunEnding } from '../../schemas/verify/activities.ts';
import type { VerifyResult } from '../../schemas/verify/result.ts';
import { auditWriter } from '../audit/write.ts';
import type { VerifyDependencies } from './dependencies.ts';

/** Repeatable: the same ending again changes nothing. @throws `state_conflict` when another result is there already */
export async function endRun(needs: VerifyDependencies, { accepted, n, result, offset }: RunEnding): Promise<void> {
  const { tenant, pair, executor } = accepted.request;
  await needs.store.endTask({
    accepted,
    n,
    result,
    from: { source: 'control', offset },
    event: {
      type: 'status',
      state: taskStateOf(result.status),
      phase: 'ended',
      detail: summaryOf(result),
      outcome: result.status,
    },
    reuseSeconds: reuseSeconds(result.status, needs.reuseWindowSecs, accepted.request.cwd),
    audit: auditWriter(tenant, needs.actionKey, 'verify_ended', {
      task: accepted.taskId,
      request: accepted.requestDigest,
      result: digestOf('evidence', result),
      status: result.status,
    }),
  });
  const seat = { tenant, pair, role: executor, workspaceGeneration: accepted.workspaceGeneration };
  const next = await needs.store.leavePlace(seat, accepted.workflowId);
  if (next !== null) await needs.nudge(next).catch(() => {});
}

/** One sentence for whoever watches the task. */
function summaryOf(result: VerifyResult): string {
  if (result.status !== 'completed') return result.reasons.join(', ') || result.status;
  return result.satisfied ? 'completed and satisfied' : `completed, not satisfied: ${result.reasons.join(', ')}`;
}
