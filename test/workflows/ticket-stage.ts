/**
 * A stage for the ticket workflow: the real workflow and reducer on a Temporal server; its activities and the workflows it starts
 * are scripted. The scripted agent submits by updates, as the gateway does for a real one.
 */
import { fileURLToPath } from 'node:url';
import { WorkflowUpdateFailedError, type Client, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Worker,
  type NativeConnection,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { digestOf, type Digest } from '../../schemas/digest.ts';
import type { GateDecisionWord } from '../../schemas/gate/vocabulary.ts';
import type { GateInput } from '../../schemas/gate/workflow.ts';
import type { GitActivities, LandAnswer, LandRequest, PushedAnswer, PushedRef } from '../../schemas/git/activities.ts';
import type { Assignment } from '../../schemas/harness-api.ts';
import { controlQueue } from '../../schemas/queues.ts';
import type {
  PersonAsked,
  PersonRecorded,
  TicketActivities,
  TicketAdmission,
} from '../../schemas/ticket/activities.ts';
import type { TicketDefinition } from '../../schemas/ticket/definition.ts';
import type { TicketEvent } from '../../schemas/ticket/event.ts';
import type { TicketState, TicketUpdateOutcome } from '../../schemas/ticket/state.ts';
import {
  TICKET_SIGNALS,
  TICKET_STATE_QUERY,
  TICKET_WORKFLOW,
  type CarriedTicket,
  type KillSwitchNotice,
  type TicketInput,
  type TicketOutcome,
  type TicketUpdateArguments,
  type TicketUpdateName,
} from '../../schemas/ticket/workflow.ts';
import type { VerificationInput, VerificationOutcome } from '../../schemas/verification/workflow.ts';
import { ticketWorkflowId } from '../../schemas/workflow-ids.ts';
import type { AgentActivities, AgentAnswer, AgentTurn } from '../../schemas/workspace/agent.ts';
import type { PairActivities } from '../../schemas/pair-activities.ts';
import { activityFailures } from '../../workers/activity-failures.ts';
import { runWorkers } from '../../workers/run-workers.ts';
import { pollUntil } from '../support/poll.ts';
import { BASE, commit } from '../support/ticket-fixtures.ts';
import type { ScriptActivities } from './ticket-children.ts';

export interface TicketTheatre {
  readonly client: Client;
  readonly connection: NativeConnection;
  readonly workflowBundle: WorkflowBundleWithSourceMap;
}

let bundled: Promise<WorkflowBundleWithSourceMap> | null = null;

/** Once for all the files of a process: it takes as long as a play. */
export async function bundleTicket(): Promise<WorkflowBundleWithSourceMap> {
  const workflowsPath = fileURLToPath(new URL('./ticket-children.ts', import.meta.url));
  bundled ??= bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
  return await bundled;
}

type Awaitable<T> = T | Promise<T>;

/** What a test changes; everything else goes well. */
export interface TicketScript {
  /** Where it goes on, instead of from its beginning: as carried over from an earlier run, with no workspace left. */
  readonly from?: TicketState;
  readonly segments?: number;
  readonly documentation?: boolean;
  readonly historyLimit?: number;
  /** Before the agent submits what it is asked; an answer instead of `null` ends its turn without a submission. */
  readonly agent?: (staged: StagedTicket, turn: AgentTurn, assignment: Assignment) => Promise<AgentAnswer | null>;
  readonly verification?: (input: VerificationInput, n: number) => Awaitable<VerificationOutcome | 'hang' | null>;
  readonly gate?: (input: GateInput, n: number, staged: StagedTicket) => Awaitable<GateDecisionWord>;
  readonly land?: (tries: number, request: LandRequest) => LandAnswer | Promise<LandAnswer>;
  /** `authority:epoch` when the intent is recorded. */
  readonly epoch?: () => number;
  readonly workspace?: (n: number) => boolean;
  readonly admit?: () => Awaitable<TicketAdmission>;
  /** Where the base branch is. */
  readonly base?: () => string;
  /** While an event is being recorded. */
  readonly recording?: (event: TicketEvent) => Awaitable<void>;
  readonly person?: (asked: PersonAsked) => Awaitable<PersonRecorded>;
  /** `null`: it was pushed, and contains what no other commit does. */
  readonly pushed?: (of: PushedRef) => Awaitable<PushedAnswer | null>;
  /** Starts the ticket in place of the stage, in this tenant and on its own queue; `recorded` gets the states. */
  readonly entrance?: {
    readonly tenant: string;
    readonly start: (definition: TicketDefinition) => Promise<unknown>;
    readonly recorded: TicketState[];
  };
}

export interface StagedTicket {
  readonly handle: WorkflowHandle<(input: TicketInput) => Promise<TicketOutcome>>;
  readonly client: Client;
  readonly id: string;
  /** What was recorded, in order. */
  readonly events: TicketEvent[];
  readonly states: TicketState[];
  /** Every workspace that was started, and those that are gone with the trigger of each. */
  readonly started: string[];
  readonly gone: Map<string, string>;
  readonly verifications: VerificationInput[];
  readonly gates: GateInput[];
  readonly assignments: Assignment[];
  readonly people: PersonAsked[];
  /** By id: the ruling, `null` while it is open. */
  readonly incidents: Map<string, string | null>;
  state(): Promise<TicketState>;
  update<N extends TicketUpdateName>(
    name: N,
    request: TicketUpdateArguments[N],
    updateId?: string,
  ): Promise<TicketUpdateOutcome>;
  /** Waits until it is recorded in this phase. */
  until(phase: TicketState['phase']): Promise<TicketState>;
}

export const killSwitch = ({ handle }: StagedTicket, notice: KillSwitchNotice): Promise<void> =>
  handle.signal(TICKET_SIGNALS.killSwitch, notice);

/** The code with which an update was rejected; otherwise what came instead. */
export function codeOfRefusal(answer: unknown): unknown {
  if (!(answer instanceof WorkflowUpdateFailedError)) return answer;
  return answer.cause instanceof ApplicationFailure ? answer.cause.type : answer.cause;
}

const subject = (what: unknown): Digest<'subject'> => digestOf('subject', JSON.parse(JSON.stringify(what)));

export function ticketDefinition(id: string, documentation: boolean): TicketDefinition {
  return {
    schema: 'portcullis/ticket/v1',
    id,
    title: 'Say a duration in words',
    body: 'As it says.',
    issueUrl: null,
    repository: { path: '.' },
    baseBranch: 'main',
    segmentsHint: null,
    checks: [{ check: 'npm-test', argv: ['npm', 'test'], timeoutSeconds: 60 }],
    criteria: [{ id: 'works', text: 'It works.', required: true, methods: ['deterministic'] }],
    risk: 'moderate',
    ttlSeconds: {},
    documentation,
  };
}

/** The same place, as a ticket of this id that came there just now. */
function carriedFrom(state: TicketState, id: string): CarriedTicket {
  const moved = { ticketId: id, pairId: id, workspaces: [], since: Date.now() };
  return { state: { ...state, ...moved }, seq: 0 };
}

/** Plays one script to a ticket of its own; the worker stops when the play ends. */
export async function playTicket<T>(
  theatre: TicketTheatre,
  id: string,
  script: TicketScript,
  act: (staged: StagedTicket) => Promise<T>,
): Promise<T> {
  const { client } = theatre;
  const { entrance } = script;
  const tenant = entrance?.tenant ?? 'test';
  const taskQueue = entrance === undefined ? `${controlQueue(tenant)}-${id}` : controlQueue(tenant);
  const workflowId = ticketWorkflowId({ tenant, ticket: id });
  const handle = client.workflow.getHandle<(input: TicketInput) => Promise<TicketOutcome>>(workflowId);
  const events: TicketEvent[] = [];
  const states = entrance?.recorded ?? [];
  const staged: StagedTicket = {
    handle,
    client,
    id,
    events,
    states,
    started: [],
    gone: new Map(),
    verifications: [],
    gates: [],
    assignments: [],
    people: [],
    incidents: new Map(),
    state: () => handle.query<TicketState>(TICKET_STATE_QUERY),
    update: (name, request, updateId) =>
      handle.executeUpdate<TicketUpdateOutcome, [typeof request]>(name, {
        args: [request],
        ...(updateId === undefined ? {} : { updateId }),
      }),
    until: (phase) =>
      pollUntil(
        () => {
          const state = states.at(-1);
          return Promise.resolve(state?.phase === phase && state);
        },
        { what: `${id} in ${phase}`, deadlineMs: 40_000 },
      ),
  };
  const worker = await Worker.create({
    connection: theatre.connection,
    taskQueue,
    workflowBundle: theatre.workflowBundle,
    activities: { ...scripted(script, staged) },
    interceptors: { activity: [activityFailures] },
    maxHeartbeatThrottleInterval: '200ms',
  });
  const running = runWorkers([worker]);
  try {
    const definition = ticketDefinition(id, script.documentation ?? false);
    const input: TicketInput = {
      tenant,
      definition,
      source: { importId: null, baseSha: BASE, remote: null },
      by: 'c-operator',
      carried: script.from === undefined ? null : carriedFrom(script.from, id),
      historyLimit: script.historyLimit ?? null,
    };
    if (entrance === undefined) await client.workflow.start(TICKET_WORKFLOW, { taskQueue, workflowId, args: [input] });
    else await entrance.start(definition);
    return await act(staged);
  } finally {
    await running.close();
  }
}

type Scripted = TicketActivities &
  AgentActivities &
  ScriptActivities &
  Pick<PairActivities, 'importRepository' | 'recordPair'> &
  Pick<
    GitActivities,
    'placeBranch' | 'checkPushed' | 'fetchBase' | 'makeCandidate' | 'mayLand' | 'land' | 'describeChange'
  > & {
    recordSubject(parameters: unknown): Promise<{ readonly subjectDigest: Digest<'subject'> }>;
  };

function scripted(script: TicketScript, staged: StagedTicket): Scripted {
  let commits = 0x100;
  let landings = 0;
  return {
    importRepository: () => Promise.resolve(),
    recordPair: ({ input }) =>
      Promise.resolve({
        pair: input.pair,
        head: {
          schema: 'portcullis/pair-head/v1',
          pair: input.pair,
          headSha: input.headSha,
          baseSha: null,
          execution: 'e1',
          generation: 1,
        },
        roles: {
          schema: 'portcullis/pair-roles/v1',
          pair: input.pair,
          roles: input.roles,
          routing: input.routing,
          workspaces: {},
          baseBranch: input.baseBranch,
        },
        credentials: [],
      }),
    async recordTransition({ state, event }) {
      staged.events.push(event);
      staged.states.push(state);
      await script.recording?.(event);
    },
    writeAssignment({ assignment }) {
      staged.assignments.push(assignment);
      return Promise.resolve();
    },
    readPlan: ({ commit: at }) =>
      Promise.resolve({ found: true, digest: `sha256:${at}${'0'.repeat(24)}`, segments: script.segments ?? 1 }),
    admitTicket: async () => (await script.admit?.()) ?? { stopped: null, unknownCheck: null },
    recordPerson: async (asked) => {
      staged.people.push(asked);
      return (await script.person?.(asked)) ?? { kind: 'recorded', decisionId: `h-${staged.people.length}` };
    },
    openLandingIncident: ({ candidate }) => {
      const id = `landing-${candidate.slice(0, 20)}`;
      staged.incidents.set(id, null);
      return Promise.resolve(id);
    },
    closeLandingIncident: ({ incident, ruling }) => {
      staged.incidents.set(incident, ruling.ruling);
      return Promise.resolve();
    },
    recordDocumentation: (of) => Promise.resolve({ subjectDigest: subject({ ...of, definition: 0 }) }),
    recordSubject: (parameters) => Promise.resolve({ subjectDigest: subject(parameters) }),
    placeBranch: () => Promise.resolve({ former: null }),
    checkPushed: async (of) => (await script.pushed?.(of)) ?? { pushed: true, tree: of.commit },
    fetchBase: () => Promise.resolve({ commit: script.base?.() ?? BASE }),
    makeCandidate: ({ base, head }) =>
      Promise.resolve({ kind: 'candidate', commit: commit((commits += 1)), tree: commit(1), base, head }),
    describeChange: () =>
      Promise.resolve({
        tree: commit(1),
        diffDigest: `sha256:${'d'.repeat(64)}`,
        paths: [],
        pathCount: 1,
        within: true,
      }),
    mayLand: () => Promise.resolve({ authorises: true, reason: '', epoch: script.epoch?.() ?? 1 }),
    async land(request) {
      const { candidate } = request;
      landings += 1;
      const answer = await script.land?.(landings, request);
      return (
        answer ?? { outcome: 'landed', commit: candidate, fencing: 1, epoch: { before: 1, after: 1 }, incident: false }
      );
    },
    scriptWorkspace({ role, workspaceGeneration }) {
      staged.started.push(`${role}/${workspaceGeneration}`);
      const ready = script.workspace?.(staged.started.length) ?? true;
      return Promise.resolve(ready ? { coderWorkspaceId: `c-${staged.started.length}` } : null);
    },
    workspaceIsGone(run, trigger) {
      staged.gone.set(run.split('/').slice(3).join('/'), trigger);
      return Promise.resolve();
    },
    async agentTurn(turn) {
      const assignment = staged.assignments.at(-1);
      if (assignment === undefined) throw new Error('an agent is asked without an assignment');
      const instead = await script.agent?.(staged, turn, assignment);
      if (instead != null) return instead;
      await submit(staged, assignment, commit((commits += 1)));
      return { outcome: 'answered', message: 'done' };
    },
    async scriptVerification(input) {
      staged.verifications.push(input);
      return (await script.verification?.(input, staged.verifications.length)) ?? satisfied(input);
    },
    async scriptGate(input) {
      staged.gates.push(input);
      const decision = (await script.gate?.(input, staged.gates.length, staged)) ?? 'pass';
      return {
        evaluationKey: digestOf('gate-evaluation', { ...input, at: staged.gates.length }),
        decisionDigest: digestOf('decision', { ...input }),
        decision,
        reasons:
          decision === 'pass' ? [] : [{ case: 'open_blocker', code: 'finding_open', ref: 'f-1', overridden: false }],
        reasonsOmitted: 0,
      };
    },
  };
}

/** Submits what the assignment asks for, as the gateway does for an agent. */
export async function submit(staged: StagedTicket, assignment: Assignment, at: string): Promise<TicketUpdateOutcome> {
  const { phase, revision, segment, head } = assignment;
  const request = { revision, by: 'c-agent' };
  if (phase === 'planning') return await staged.update('submitPlan', { ...request, commit: at });
  if (segment !== null) return await staged.update('submitSegment', { ...request, n: segment.n, commit: at });
  return await staged.update('submitReady', { ...request, commit: phase === 'documenting' ? at : head });
}

export const satisfied = ({ scope }: VerificationInput): VerificationOutcome => {
  const verified = {
    refs: ['evidence-1'],
    checks: [{ check: 'npm-test', status: 'satisfied', taskId: 't-1' }],
    runs: [],
  } as const;
  return scope === 'checks'
    ? { outcome: 'checked', ...verified }
    : {
        outcome: 'reviewed',
        route: 'proceed',
        failureClass: null,
        reviewDigest: `sha256:${'7'.repeat(64)}`,
        ...verified,
      };
};

export const rejected = (input: VerificationInput): VerificationOutcome => ({
  ...satisfied(input),
  outcome: 'reviewed',
  route: 'retry_producer',
  failureClass: 'off-by-one',
  reviewDigest: `sha256:${'8'.repeat(64)}`,
});
