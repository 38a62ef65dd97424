/** The stage of the door with what an agent needs besides: an assignment, an approval, a ticket that listens. */
import { NativeConnection, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { auditWriter } from '../../activities/audit/write.ts';
import { generateSigningKey } from '../../activities/signing/keys.ts';
import { connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { mintApproval } from '../../activities/store/approvals.ts';
import { writeAssignment } from '../../activities/store/harness.ts';
import type { ApprovalBinding } from '../../schemas/approval.ts';
import type { Assignment } from '../../schemas/harness-api.ts';
import { ticketWorkflowId } from '../../schemas/workflow-ids.ts';
import { harnessCalls, type HarnessCalls } from '../../workers/agent/calls.ts';
import { runWorkers } from '../../workers/run-workers.ts';
import type { RunningGateway } from '../../gateway/gateway.ts';
import { openStage, type DoorStage } from '../door/stage.ts';
import { takenQuery, type Taken, type ticket } from './workflows.ts';

export const HEAD = 'a'.repeat(40);
const REVISION = 7;

export interface HarnessStage {
  readonly door: DoorStage;
  readonly gateway: RunningGateway;
  /** A connection of the user `control`. */
  readonly control: StoreConnection;
  /** The calls of an agent with a fresh credential. */
  agent(pair: string, who?: Partial<AgentSeat>): Promise<Agent>;
  assign(pair: string, change?: Partial<Assignment>): Promise<Assignment>;
  /** Mints the approval of a pair's review and assigns it to its SENTINEL. */
  review(pair: string, change?: Partial<ApprovalBinding>): Promise<ApprovalBinding>;
  /** Starts the ticket of a pair; `history` is all of it, what its payloads hold included. */
  open(pair: string): Promise<{ taken(): Promise<readonly Taken[]>; history(): Promise<string> }>;
  close(): Promise<void>;
}

export interface AgentSeat {
  readonly role: 'forge' | 'sentinel' | 'lore' | 'verifier';
  readonly use: 'agent' | 'executor';
  readonly workspaceGeneration: number;
  readonly execution: string;
}

export interface Agent {
  readonly id: string;
  readonly calls: HarnessCalls;
}

export async function openHarnessStage(temporalAddress: string): Promise<HarnessStage> {
  const door = await openStage(temporalAddress);
  const gateway = await door.gateway();
  const control = await connectStore(door.storeServer.settings('control'));
  const actionKey = generateSigningKey();
  const native = await NativeConnection.connect({ address: temporalAddress });
  const taskQueue = `${door.workflowQueue}-tickets`;
  const worker = runWorkers([
    await Worker.create({
      connection: native,
      taskQueue,
      workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
    }),
  ]);
  const open: string[] = [];
  const assign: HarnessStage['assign'] = async (pair, change = {}) => {
    const assignment: Assignment = { ...blank(pair), ...change };
    await writeAssignment(control, 'local', assignment);
    return assignment;
  };
  return {
    door,
    gateway,
    control,
    assign,
    async agent(pair, who = {}) {
      const { record, bearer } = await door.credential({
        pair,
        role: 'forge',
        use: 'agent',
        execution: 'e1',
        ...who,
      });
      const calls = harnessCalls({ gatewaySocket: gateway.socketPath, bearer, patienceMs: 0 });
      return { id: record.id, calls };
    },
    async review(pair, change = {}) {
      const binding = await mintApproval(control, { ...terms(pair), ...change }, (made) =>
        auditWriter(made.tenant, actionKey, 'token_minted', { approval: made.id }),
      );
      await assign(pair, {
        role: 'sentinel',
        phase: 'segment_review',
        review: binding.review,
        verifierClass: 'reviewer',
        approvalId: binding.id,
        evaluation: binding.evaluation,
        workspaceGeneration: binding.workspaceGeneration,
      });
      return binding;
    },
    async open(pair) {
      const workflowId = ticketWorkflowId({ tenant: 'local', ticket: pair });
      open.push(workflowId);
      const handle = await door.temporal.workflow.start<typeof ticket>('ticket', {
        taskQueue,
        workflowId,
        args: [{ revision: REVISION }],
      });
      return {
        taken: () => handle.query(takenQuery),
        history: async () => payloadsOf(await handle.fetchHistory()),
      };
    },
    async close() {
      await Promise.all(open.map((id) => door.temporal.workflow.getHandle(id).terminate()));
      await worker.close();
      await native.close();
      await control.close();
      await door.close();
    },
  };
}

/** Everything that a history carries, in clear. */
function payloadsOf(history: object): string {
  const text = JSON.stringify(history);
  const carried = [...text.matchAll(/"data":"([A-Za-z0-9+/=]+)"/g)].map(([, data]) =>
    Buffer.from(data ?? '', 'base64'),
  );
  return [text, ...carried].join('\n');
}

function blank(pair: string): Assignment {
  return {
    schema: 'portcullis/assignment/v1',
    pair,
    role: 'forge',
    workspaceGeneration: 1,
    execution: { id: 'e1', generation: 1 },
    phase: 'building',
    revision: REVISION,
    round: 1,
    title: 'a ticket',
    goal: '',
    branch: `portcullis/${pair}`,
    baseBranch: 'main',
    base: null,
    head: HEAD,
    plan: null,
    segment: { n: 1, of: 1 },
    segmentBase: null,
    feedback: null,
    review: null,
    approvalId: null,
    evaluation: null,
    verifierClass: null,
    blockers: [],
  };
}

function terms(pair: string): Omit<ApprovalBinding, 'schema' | 'id'> {
  return {
    tenant: 'local',
    ticket: pair,
    execution: { id: 'e1', generation: 1 },
    phase: 'segment_review',
    planRevision: 1,
    evaluation: 3,
    round: 1,
    head: HEAD,
    workspaceGeneration: 1,
    review: 'segment-1-eval.md',
    expiresAt: Date.now() + 60_000,
  };
}
