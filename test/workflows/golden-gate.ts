/** The recorded paths of `gate` and `anchor`, with activities that stand in for the gate worker. */
import { Worker } from '@temporalio/worker';
import type { WorkflowHandle } from '@temporalio/client';
import { digestOf } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { EvaluatedSubject, GateActivities } from '../../schemas/gate/activities.ts';
import type { AnchorInput, AuditAnchor, GATE_WORKFLOWS, GateInput } from '../../schemas/gate/workflow.ts';
import { gateQueue } from '../../schemas/queues.ts';
import { activityFailures } from '../../workers/activity-failures.ts';
import { runWorkers } from '../../workers/run-workers.ts';
import type { Theatre } from './stage.ts';

export interface GatePath {
  readonly name: string;
  readonly workflow: keyof typeof GATE_WORKFLOWS;
  readonly activities?: Partial<GateActivities>;
}

const AUDIT_ANCHOR: AuditAnchor = {
  schema: 'portcullis/audit-anchor/v1',
  tenant: 'golden-gate',
  head: { n: 120, digest: digestOf('audit', 'recorded') },
  signature: 'c2lnbmVk',
  keyId: '0123456789abcdef',
};

const PASSED: EvaluatedSubject = {
  evaluationKey: digestOf('gate-evaluation', 'recorded'),
  decisionDigest: digestOf('decision', 'recorded'),
  decision: 'pass',
  reasons: [],
  reasonsOmitted: 0,
  anchor: AUDIT_ANCHOR,
};

export const GATE_PATHS: readonly GatePath[] = [
  { name: 'passed', workflow: 'gate' },
  {
    name: 'blocked',
    workflow: 'gate',
    activities: {
      evaluateSubject: () =>
        Promise.resolve({
          ...PASSED,
          decision: 'blocked',
          reasons: [{ case: 'missing', code: 'check_missing', ref: 'tests', overridden: false }],
          reasonsOmitted: 3,
        }),
    },
  },
  {
    name: 'kill-switch',
    workflow: 'gate',
    activities: {
      evaluateSubject: () => {
        throw portcullisError('kill_switch', { reason: 'recorded' });
      },
    },
  },
  { name: 'anchored', workflow: 'anchor' },
  { name: 'nothing-new', workflow: 'anchor', activities: { anchorAudit: () => Promise.resolve(null) } },
];

/** Plays one path; workers stop when the play ends. */
export async function playGate<T>(
  theatre: Theatre,
  { name, workflow, activities }: GatePath,
  act: (handle: WorkflowHandle) => Promise<T>,
): Promise<T> {
  const tenant = 'golden-gate';
  const taskQueue = `golden-${workflow}-${name}`;
  const interceptors = { activity: [activityFailures] };
  const standIns: GateActivities = {
    evaluateSubject: () => Promise.resolve(PASSED),
    anchorAudit: () => Promise.resolve(AUDIT_ANCHOR),
    ...activities,
  };
  const { connection, workflowBundle } = theatre;
  const running = runWorkers([
    await Worker.create({ connection, taskQueue, workflowBundle }),
    await Worker.create({ connection, taskQueue: gateQueue(tenant), activities: { ...standIns }, interceptors }),
  ]);
  try {
    const evaluation: GateInput = { tenant, kind: 'merge', subjectDigest: digestOf('subject', 'recorded'), n: 1 };
    const anchoring: AnchorInput = { tenant };
    const args = [workflow === 'gate' ? evaluation : anchoring];
    return await act(await theatre.client.workflow.start(workflow, { taskQueue, workflowId: taskQueue, args }));
  } finally {
    await running.close();
  }
}
