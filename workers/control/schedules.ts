/** The Schedules of a tenant: made when missing, left as an operator changed them otherwise. */
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import { controlQueue } from '../../schemas/queues.ts';
import { RECONCILE_WORKFLOW, type ReconcileInput } from '../../schemas/reconcile.ts';
import { reconcileWorkflowId } from '../../schemas/workflow-ids.ts';

export async function ensureSchedules(temporal: Client, tenant: string, everySecs: number): Promise<void> {
  const input: ReconcileInput = { tenant };
  try {
    await temporal.schedule.create({
      scheduleId: reconcileWorkflowId(tenant),
      spec: { intervals: [{ every: everySecs * 1000 }] },
      // A round that was missed is of no use later, and two at once would do the same.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '10s', pauseOnFailure: false },
      action: {
        type: 'startWorkflow',
        workflowType: RECONCILE_WORKFLOW,
        workflowId: reconcileWorkflowId(tenant),
        taskQueue: controlQueue(tenant),
        args: [input],
        staticSummary: `reconcile ${tenant}`,
      },
    });
  } catch (thrown) {
    if (!(thrown instanceof ScheduleAlreadyRunning)) throw thrown;
  }
}
