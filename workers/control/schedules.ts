/** The Schedules of a tenant: made when missing, left as an operator changed them otherwise. */
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import { GATE_WORKFLOWS, type AnchorInput } from '../../schemas/gate/workflow.ts';
import { controlQueue } from '../../schemas/queues.ts';
import { RECONCILE_WORKFLOW, type ReconcileInput } from '../../schemas/reconcile.ts';
import { anchorWorkflowId, reconcileWorkflowId } from '../../schemas/workflow-ids.ts';

/** Seconds between two looks at how far the audit chain has grown. */
const ANCHOR_SECS = 60;

export async function ensureSchedules(temporal: Client, tenant: string, everySecs: number): Promise<void> {
  const reconcile: ReconcileInput = { tenant };
  const anchor: AnchorInput = { tenant };
  await ensureSchedule(temporal, tenant, {
    id: reconcileWorkflowId(tenant),
    workflowType: RECONCILE_WORKFLOW,
    everySecs,
    input: reconcile,
  });
  await ensureSchedule(temporal, tenant, {
    id: anchorWorkflowId(tenant),
    workflowType: GATE_WORKFLOWS.anchor,
    everySecs: ANCHOR_SECS,
    input: anchor,
  });
}

interface Repeated {
  /** Of the Schedule and of its workflow. */
  readonly id: string;
  readonly workflowType: string;
  readonly everySecs: number;
  readonly input: ReconcileInput | AnchorInput;
}

async function ensureSchedule(
  temporal: Client,
  tenant: string,
  { id, workflowType, everySecs, input }: Repeated,
): Promise<void> {
  try {
    await temporal.schedule.create({
      scheduleId: id,
      spec: { intervals: [{ every: everySecs * 1000 }] },
      // A round that was missed is of no use later, and two at once would do the same.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '10s', pauseOnFailure: false },
      action: {
        type: 'startWorkflow',
        workflowType,
        workflowId: id,
        taskQueue: controlQueue(tenant),
        args: [input],
        staticSummary: `${workflowType} ${tenant}`,
      },
    });
  } catch (thrown) {
    if (!(thrown instanceof ScheduleAlreadyRunning)) throw thrown;
  }
}
