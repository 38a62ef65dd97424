/**
 * A stage for the verification workflow: the real workflow on a Temporal server; its activities, its workspaces and its reviewer
 * are scripted. The reviewer answers its approval by the signal that the ticket would send.
 */
import { fileURLToPath } from 'node:url';
import type { Client, WorkflowHandle } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Worker,
  type NativeConnection,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { contentDigest, digestOf } from '../../schemas/digest.ts';
import { portcullisError, type ErrorCode } from '../../schemas/errors.ts';
import type { EvidenceActivities, PreflightAnswer } from '../../schemas/gate/activities.ts';
import type { CriterionStatus } from '../../schemas/gate/vocabulary.ts';
import { controlQueue } from '../../schemas/queues.ts';
import type { TicketGate } from '../../schemas/ticket/phase.ts';
import type {
  PlannedCheck,
  PlannedReview,
  ReviewReading,
  VerificationActivities,
} from '../../schemas/verification/activities.ts';
import {
  VERIFICATION_SIGNALS,
  VERIFICATION_WORKFLOW,
  type SubjectParameters,
  type TicketAnswer,
  type VerificationInput,
  type VerificationOutcome,
} from '../../schemas/verification/workflow.ts';
import { verificationWorkflowId, workspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import type { AgentActivities, AgentAnswer, AgentTurn } from '../../schemas/workspace/agent.ts';
import type { WorkspaceRole } from '../../schemas/workspace/workflow.ts';
import { activityFailures } from '../../workers/activity-failures.ts';
import { runWorkers } from '../../workers/run-workers.ts';
import { BASE, commit } from '../support/ticket-fixtures.ts';
import { acceptedRequest } from '../support/verify-fixture.ts';
import type { ScriptActivities } from './ticket-children.ts';
import { ticketDefinition } from './ticket-stage.ts';

export interface VerificationTheatre {
  readonly client: Client;
  readonly connection: NativeConnection;
  readonly workflowBundle: WorkflowBundleWithSourceMap;
}

export async function bundleVerification(): Promise<WorkflowBundleWithSourceMap> {
  const workflowsPath = fileURLToPath(new URL('./verification-children.ts', import.meta.url));
  return await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
}

/** What a play changes; everything else goes well. */
export interface VerificationScript {
  readonly gate?: TicketGate;
  readonly scope?: VerificationInput['scope'];
  readonly missing?: string;
  readonly checks?: readonly PlannedCheck[];
  readonly reviews?: readonly PlannedReview[];
  readonly status?: (checkId: string) => CriterionStatus;
  readonly verifierNeeded?: boolean;
  /** What the preflight finds, when no verifier is needed. */
  readonly hits?: PreflightAnswer['hits'];
  /** What the preflight fails with instead, by its code. */
  readonly preflightFails?: ErrorCode;
  /** Whether the runs are history by the time they are recorded. */
  readonly stale?: boolean;
  /** Whether a workspace becomes ready; counted over all of them. */
  readonly workspace?: (role: WorkspaceRole, n: number) => boolean;
  /** An answer instead of `null` is what the reviewer's turn comes to; otherwise it answers its approval. */
  readonly agent?: (turn: AgentTurn, staged: StagedVerification) => Promise<AgentAnswer | null>;
  readonly reading?: (look: number) => ReviewReading;
}

export interface StagedVerification {
  readonly handle: WorkflowHandle<(input: VerificationInput) => Promise<VerificationOutcome>>;
  /** Workspaces that were started, and those that are gone. */
  readonly started: string[];
  readonly gone: string[];
  /** Approvals of reviews that were cut short. */
  readonly abandoned: string[];
}

export type FoundReading = Extract<ReviewReading, { readonly found: true }>;

export const APPROVED: FoundReading = {
  found: true,
  digest: contentDigest(new TextEncoder().encode('approved')),
  route: 'proceed',
  verdict: 'APPROVED',
  failureClass: null,
  reask: null,
};
export const REJECTED: FoundReading = {
  ...APPROVED,
  digest: contentDigest(new TextEncoder().encode('rejected')),
  route: 'retry_producer',
  verdict: 'REJECTED',
  failureClass: 'off-by-one',
};
export const UNPARSEABLE: FoundReading = {
  ...APPROVED,
  digest: contentDigest(new TextEncoder().encode('unparseable')),
  route: 'reask',
  verdict: 'UNPARSEABLE',
  reask: 'Say it in the last block.',
};

export const COMMAND_CHECK: PlannedCheck = {
  checkId: 'tests',
  definition: {
    schema: 'portcullis/check-definition/v1',
    kind: 'command',
    template: 'npm-test',
    argv: ['npm', 'test'],
    cwd: 'repo',
    expectExitCode: 0,
    timeoutSecs: 60,
    artifacts: [],
  },
  answer: null,
};
export const BUILTIN_CHECK: PlannedCheck = {
  checkId: 'candidate-bound',
  definition: { schema: 'portcullis/check-definition/v1', kind: 'builtin', name: 'candidate-bound', version: 1 },
  answer: null,
};

export const CONTRACT_CHECK: PlannedCheck = {
  checkId: 'contract-agreed',
  definition: { schema: 'portcullis/check-definition/v1', kind: 'builtin', name: 'contract-agreed', version: 1 },
  answer: null,
};

/** Plays one script; the worker stops when the play ends. */
export async function playVerification<T>(
  theatre: VerificationTheatre,
  name: string,
  script: VerificationScript,
  act: (staged: StagedVerification) => Promise<T>,
): Promise<T> {
  const { client, connection, workflowBundle } = theatre;
  const taskQueue = `${controlQueue('test')}-verification-${name}`;
  const input = inputOf(name, script);
  const workflowId = verificationWorkflowId({ ...input.parameters, subjectDigest: input.subjectDigest, n: input.n });
  const handle = client.workflow.getHandle<(input: VerificationInput) => Promise<VerificationOutcome>>(workflowId);
  const staged: StagedVerification = { handle, started: [], gone: [], abandoned: [] };
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle,
    activities: { ...scripted(script, staged) },
    interceptors: { activity: [activityFailures] },
    maxHeartbeatThrottleInterval: '200ms',
  });
  const running = runWorkers([worker]);
  try {
    await client.workflow.start(VERIFICATION_WORKFLOW, { taskQueue, workflowId, args: [input] });
    return await act(staged);
  } finally {
    await running.close();
  }
}

function inputOf(name: string, { gate = 'segment', scope = 'review' }: VerificationScript): VerificationInput {
  const ticket = `V-${name}`;
  const parameters: SubjectParameters = {
    tenant: 'test',
    ticket,
    gate,
    execution: { id: 'e1', generation: 1 },
    stateRevision: 4,
    round: 1,
    plan: { revision: 1, digest: `sha256:${'1'.repeat(64)}`, commit: commit(2) },
    segment: gate === 'segment' ? { n: 1, of: 1 } : null,
    change: { base: BASE, head: commit(3) },
    branchHead: commit(3),
    producer: { run: workspaceWorkflowId({ tenant: 'test', ticket, role: 'forge', workspaceGeneration: 1 }) },
    definition: ticketDefinition(ticket, false),
    priorBlockers: [],
  };
  const subjectDigest = digestOf('subject', { name });
  return { parameters, subjectDigest, n: 1, scope, owner: `ticket/test/${ticket}`, timeoutSeconds: 600 };
}

type Scripted = VerificationActivities &
  AgentActivities &
  Pick<EvidenceActivities, 'openAttempt' | 'recordCheck' | 'preflightSubject'> &
  Pick<ScriptActivities, 'scriptWorkspace' | 'workspaceIsGone'>;

function scripted(script: VerificationScript, staged: StagedVerification): Scripted {
  const statusOf = (checkId: string) => script.status?.(checkId) ?? 'passed';
  const evidence = (what: string) => digestOf('evidence', { what });
  let attempts = 0;
  let looks = 0;
  let opened = 0;
  const readingOf = () => script.reading?.(looks) ?? APPROVED;
  return {
    recordSubject: () => Promise.resolve({ subjectDigest: digestOf('subject', {}) }),
    requireArtifacts: () => Promise.resolve({ missing: script.missing ?? null }),
    planChecks: () => Promise.resolve(script.checks ?? [BUILTIN_CHECK, COMMAND_CHECK]),
    observeBuiltin: ({ checkId }) => Promise.resolve({ status: statusOf(checkId), refs: [] }),
    admitCheck({ parameters, checkId }) {
      const accepted = acceptedRequest(`${parameters.ticket}-${checkId}`);
      return Promise.resolve({ kind: 'run', workflowId: accepted.workflowId, input: { accepted, n: 1 } });
    },
    awaitTask: () => Promise.resolve(),
    planReviews: () => Promise.resolve(script.reviews ?? [{ verifierClass: 'reviewer', seat: 1 }]),
    openReview({ workspaceGeneration }) {
      opened += 1;
      return Promise.resolve({
        name: `segment-1-eval-${opened}.md`,
        approvalId: `approval-${workspaceGeneration}`,
        grant: { id: `grant-${workspaceGeneration}`, revision: 1 },
        priorBlockers: [],
      });
    },
    readReview() {
      const reading = readingOf();
      looks += 1;
      return Promise.resolve(reading);
    },
    concludeReview: ({ runId }) =>
      Promise.resolve({ refs: [evidence(runId)], blocking: [], stale: script.stale ?? false }),
    abandonReview: ({ approvalId }) => {
      staged.abandoned.push(approvalId);
      return Promise.resolve();
    },
    openAttempt: () => Promise.resolve({ kind: 'opened', attempt: (attempts += 1) }),
    recordCheck: ({ checkId, outcome }) =>
      Promise.resolve({
        kind: 'recorded',
        digest: evidence(checkId),
        status: outcome.by === 'nobody' ? 'inconclusive' : statusOf(checkId),
      }),
    preflightSubject() {
      if (script.preflightFails !== undefined) return Promise.reject(portcullisError(script.preflightFails));
      return Promise.resolve({ verifierNeeded: script.verifierNeeded ?? true, hits: script.hits ?? [] });
    },
    scriptWorkspace({ role, workspaceGeneration }) {
      staged.started.push(`${role}/${workspaceGeneration}`);
      const ready = script.workspace?.(role, staged.started.length) ?? true;
      return Promise.resolve(ready ? { coderWorkspaceId: `c-${staged.started.length}` } : null);
    },
    workspaceIsGone(run) {
      staged.gone.push(run.split('/').slice(3).join('/'));
      return Promise.resolve();
    },
    async agentTurn(turn) {
      const instead = await script.agent?.(turn, staged);
      if (instead != null) return instead;
      const reading = readingOf();
      if (reading.found && reading.verdict !== 'UNPARSEABLE') {
        const told: TicketAnswer = {
          answer: reading.verdict === 'APPROVED' ? 'approve' : 'reject',
          approvalId: `approval-${turn.run.split('/').at(-1) ?? ''}`,
          reviewDigest: reading.digest,
        };
        await staged.handle.signal(VERIFICATION_SIGNALS.answered, told);
      }
      return { outcome: 'answered', message: 'done' };
    },
  };
}
