/**
 * A stage for workspaces: the real workflows on the time-skipping server, over a Coder that exists in memory only. It stands in at the
 * activity boundary: what is tested is the orchestration.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { NativeConnection, Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { timeSkippingServer } from '../../local/binaries.ts';
import { canonicalText } from '../../schemas/canonical.ts';
import type { ErrorCode } from '../../schemas/errors.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { controlQueue } from '../../schemas/queues.ts';
import { SEARCH_ATTRIBUTE_NAMES } from '../../schemas/search-attributes.ts';
import { slotsWorkflowId, workspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import type {
  DeleteSight,
  LifecycleWrite,
  ProvisionSight,
  WatchAnswer,
  WorkspaceActivities,
  WorkspaceLocalActivities,
} from '../../schemas/workspace/activities.ts';
import type { IncidentRecord, RecoveryRecord, WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import { SLOTS_SIGNAL, type SlotsInput, type SlotsMessage, type SlotsView } from '../../schemas/workspace/slots.ts';
import type { WorkspaceEnded, WorkspaceInput, WorkspaceRole } from '../../schemas/workspace/workflow.ts';
import { NO_SLOTS } from '../../policies/workspaces/slots.ts';
import { activityFailures } from '../../workers/activity-failures.ts';
import { runWorkers } from '../../workers/run-workers.ts';
import { bundleWorkflows } from '../../workers/control/workflow-bundle.ts';

/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const KEYWORD = 2;

/** What a test makes of Coder. Every answer may depend on how often it was asked; a thrown code fails the call. */
export interface CoderScript {
  readonly plan?: ErrorCode;
  readonly maxWorkers?: number;
  readonly ttlSeconds?: number;
  readonly maxTtlSeconds?: number;
  readonly template?: ErrorCode;
  readonly create?: (asked: number) => 'created' | 'adopted' | ErrorCode;
  /** The answer to the create says that no provisioner can take the build. */
  readonly unserved?: boolean;
  readonly install?: (look: number) => ProvisionSight | ErrorCode;
  /** Left out, it watches until it is cancelled, as the real one does for minutes. */
  readonly watch?: (look: number) => WatchAnswer;
  readonly push?: (asked: number) => 'idle' | 'time_over' | ErrorCode;
  readonly chats?: (asked: number) => number | ErrorCode;
  /** Whether it can be found by its run; left out, once its create was answered. */
  readonly located?: (asked: number) => boolean | ErrorCode;
  readonly remove?: (look: number) => DeleteSight | ErrorCode;
  readonly sweep?: (asked: number) => ErrorCode | null;
  readonly orphan?: ErrorCode;
  /** Awaited before each activity of that name answers: where a test holds a phase. */
  readonly hold?: (activity: string) => Promise<void> | undefined;
}

export interface Seen {
  /** Names of the activities, in order; `tellSlots` with the kind of its message. */
  readonly calls: string[];
  readonly writes: LifecycleWrite[];
  readonly recoveries: Map<string, RecoveryRecord>;
  readonly incidents: IncidentRecord[];
  /** `phase outcome` of each event, in order. */
  readonly events: () => readonly string[];
  readonly last: () => WorkspaceRecord;
}

export interface Stage {
  readonly client: Client;
  readonly tenant: string;
  /** What each play is scripted to, by ticket; one worker serves them all. */
  readonly plays: Map<string, { readonly script: CoderScript; readonly seen: Seen }>;
  /** What the slots of each role showed, in order. */
  readonly slots: SlotsView[];
  readonly tellSlots: (role: WorkspaceRole, message: SlotsMessage) => Promise<void>;
  /** Milliseconds of the server's own time. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** For waits of minutes. It does not take a cancel beside an activity that ends, so what is cancelled plays on a real server. */
export async function openTimeSkippingStage(): Promise<Stage> {
  const [environment, workflowBundle] = await Promise.all([
    TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path: timeSkippingServer() } },
    }),
    bundleWorkflows(),
  ]);
  await environment.connection.operatorService.addSearchAttributes({
    namespace: environment.namespace ?? 'default',
    searchAttributes: Object.fromEntries(SEARCH_ATTRIBUTE_NAMES.map((name) => [name, KEYWORD])),
  });
  const { client, nativeConnection } = environment;
  return await stageOn(client, nativeConnection, workflowBundle, 'workspaces', {
    disconnect: () => environment.teardown(),
    sleep: (ms) => environment.sleep(ms),
  });
}

/** On the dev server that the tests share. */
export async function openStage(address: string, tenant: string): Promise<Stage> {
  const [connection, plain, workflowBundle] = await Promise.all([
    NativeConnection.connect({ address }),
    Connection.connect({ address }),
    bundleWorkflows(),
  ]);
  return await stageOn(new Client({ connection: plain }), connection, workflowBundle, tenant, {
    disconnect: async () => {
      await Promise.all([connection.close(), plain.close()]);
    },
    sleep: async (ms) => await delay(ms),
  });
}

async function stageOn(
  client: Client,
  connection: NativeConnection,
  workflowBundle: WorkflowBundleWithSourceMap,
  tenant: string,
  { disconnect, sleep }: { disconnect: () => Promise<void>; sleep: Stage['sleep'] },
): Promise<Stage> {
  const taskQueue = controlQueue(tenant);
  const tellSlots = async (role: WorkspaceRole, message: SlotsMessage) => {
    const input: SlotsInput = { tenant, role, state: NO_SLOTS, inbox: [] };
    await client.workflow.signalWithStart('slots', {
      workflowId: slotsWorkflowId({ tenant, role }),
      taskQueue,
      args: [input],
      signal: SLOTS_SIGNAL,
      signalArgs: [message],
    });
  };
  const plays: Stage['plays'] = new Map();
  const slots: SlotsView[] = [];
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle,
    activities: routed(plays, slots, tellSlots),
    interceptors: { activity: [activityFailures] },
  });
  const running = runWorkers([worker]);
  return {
    client,
    tenant,
    plays,
    slots,
    tellSlots,
    sleep,
    close: async () => {
      await running.close();
      await disconnect();
    },
  };
}

export type WorkspaceHandle = WorkflowHandle<(input: WorkspaceInput) => Promise<WorkspaceEnded>>;

export interface Told {
  readonly signal: string;
  readonly word: unknown;
}

export interface Play {
  readonly seen: Seen;
  readonly client: Client;
  readonly start: (change?: Partial<WorkspaceInput>) => Promise<WorkspaceHandle>;
  /** What the owner was told, in order. */
  readonly told: () => Promise<readonly Told[]>;
}

/** Plays one script to a ticket of its own, whose name no other name contains. */
export async function play<T>(
  stage: Stage,
  ticket: string,
  script: CoderScript,
  act: (play: Play) => Promise<T>,
): Promise<T> {
  const { client, tenant } = stage;
  const taskQueue = controlQueue(tenant);
  const seen = emptySeen();
  stage.plays.set(ticket, { script, seen });
  // Any workflow that stays open is an owner: what it is told stands in its history.
  const owner = await client.workflow.start('slots', {
    taskQueue,
    workflowId: `owner-of-${ticket}`,
    args: [{ tenant, role: 'lore', state: NO_SLOTS, inbox: [] } satisfies SlotsInput],
  });
  try {
    return await act({
      seen,
      client,
      start: (change = {}) => start(client, taskQueue, inputOf(tenant, ticket, owner.workflowId, change)),
      told: () => told(owner),
    });
  } finally {
    // A server that skips time may have skipped to the owner's own end.
    await owner.terminate().catch(() => {});
  }
}

function inputOf(tenant: string, ticket: string, owner: string, change: Partial<WorkspaceInput>): WorkspaceInput {
  return {
    tenant,
    ticket,
    role: 'forge',
    workspaceGeneration: 1,
    execution: { id: 'e1', generation: 1 },
    purpose: 'building segment 1',
    source: { head: 'a'.repeat(40), branch: `portcullis/${ticket}` },
    ttlSeconds: null,
    owner,
    ...change,
  };
}

function start(client: Client, taskQueue: string, input: WorkspaceInput) {
  return client.workflow.start<(input: WorkspaceInput) => Promise<WorkspaceEnded>>('workspace', {
    taskQueue,
    workflowId: workspaceWorkflowId(input),
    args: [input],
  });
}

async function told(owner: WorkflowHandle): Promise<readonly Told[]> {
  const { events } = await owner.fetchHistory();
  return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => {
    if (signal?.signalName === undefined || signal.signalName === null) return [];
    const text = Buffer.from(signal.input?.payloads?.[0]?.data ?? []).toString('utf8');
    return [{ signal: signal.signalName, word: text === '' ? null : (JSON.parse(text) as unknown) }];
  });
}

function emptySeen(): Seen {
  const writes: LifecycleWrite[] = [];
  return {
    calls: [],
    writes,
    recoveries: new Map(),
    incidents: [],
    events: () => writes.flatMap(({ events }) => events.map(({ phase, outcome }) => `${phase} ${outcome}`)),
    last() {
      const record = writes.findLast((write) => write.record !== null)?.record;
      if (record === undefined || record === null) throw new Error('no record was written');
      return record;
    },
  };
}

export const READY: ProvisionSight = { step: 'ready', detail: 'ready', reason: '' };
export const GONE: DeleteSight = { at: 'gone', buildId: 'd1', detail: 'gone', reason: '' };
export const DELETE_FAILED: DeleteSight = {
  at: 'failed',
  buildId: 'd1',
  detail: 'the delete build ended failed',
  reason: 'delete_failed',
};

type Activity = (...args: unknown[]) => Promise<unknown>;

/** Each activity goes to the play whose ticket its arguments name, and waits there where that play holds it. */
function routed(plays: Stage['plays'], slots: SlotsView[], tellSlots: Stage['tellSlots']): Record<string, Activity> {
  const made = new Map<string, ReadonlyMap<string, Activity>>();
  const activitiesOf = (text: string) => {
    const ticket = [...plays.keys()].find((name) => text.includes(name)) ?? '';
    const on = plays.get(ticket);
    if (on === undefined) throw new Error(`no play for ${text.slice(0, 200)}`);
    const known = made.get(ticket) ?? asActivities(scripted(ticket, on.script, on.seen, tellSlots));
    made.set(ticket, known);
    return { on, known };
  };
  const names = Object.keys(scripted('', {}, emptySeen(), tellSlots));
  const route =
    (name: string): Activity =>
    async (...args) => {
      const { on, known } = activitiesOf(JSON.stringify(args));
      await on.script.hold?.(name);
      return await known.get(name)?.(...args);
    };
  return {
    ...Object.fromEntries(names.map((name) => [name, route(name)])),
    // By a name that says nothing of a ticket.
    readUnprovenIncident: (_tenant, id) => Promise.resolve(unprovenIncident(plays, id)),
    projectSlots: (_tenant, view) => (slots.push(view as SlotsView), Promise.resolve()),
  };
}

function unprovenIncident(plays: Stage['plays'], id: unknown): IncidentRecord | null {
  const last = [...plays.values()].flatMap(({ seen }) => seen.incidents).findLast((incident) => incident.id === id);
  return last?.state === 'open' || last?.state === 'closed' ? last : null;
}

function asActivities(activities: object): ReadonlyMap<string, Activity> {
  return new Map(Object.entries(activities as Record<string, Activity>));
}

function scripted(
  ticket: string,
  script: CoderScript,
  seen: Seen,
  tellSlots: Stage['tellSlots'],
): Omit<WorkspaceLocalActivities, 'projectSlots' | 'readUnprovenIncident'> & WorkspaceActivities {
  const counts = new Map<string, number>();
  const asked = (name: string) => {
    const next = (counts.get(name) ?? 0) + 1;
    counts.set(name, next);
    return next;
  };
  let made = false;
  return {
    planWorkspace({ role }) {
      if (script.plan !== undefined) throw portcullisError(script.plan);
      const executorRole = role === 'forge' || role === 'verifier' ? role : null;
      return Promise.resolve({
        template: 'development',
        engine: 'command' as const,
        model: 'default',
        maxWorkers: script.maxWorkers ?? 50,
        ttlSeconds: script.ttlSeconds ?? 300,
        maxTtlSeconds: script.maxTtlSeconds ?? 600,
        executorRole,
        agent: role !== 'verifier',
        readOnly: false,
        workforceRevision: `sha256:${'0'.repeat(64)}`,
      });
    },
    recordWorkspace(write) {
      kept(write);
      seen.writes.push(write);
      return Promise.resolve();
    },
    async tellSlots(_tenant, role, message) {
      seen.calls.push(`tellSlots:${message.kind}`);
      await tellSlots(role, message);
    },
    writeWorkspaceCredentials: () => (seen.calls.push('credentials'), Promise.resolve([`c-${ticket}`])),
    refuseWorkspaceCredentials: (_workspace, ids) => (seen.calls.push(`refuse:${ids.join()}`), Promise.resolve()),
    openRecovery: (_tenant, record) => (seen.recoveries.set(record.run, kept(record)), Promise.resolve()),
    closeRecovery: (_tenant, run) => (seen.recoveries.delete(run), Promise.resolve()),
    writeIncident: (_tenant, record) => (seen.incidents.push(kept(record)), Promise.resolve()),
    resolveTemplate() {
      seen.calls.push('template');
      if (script.template !== undefined) throw portcullisError(script.template);
      return Promise.resolve({ templateId: 't1', templateVersionId: 'v1' });
    },
    createWorkspace() {
      seen.calls.push('create');
      const how = script.create?.(asked('create')) ?? 'created';
      if (how !== 'created' && how !== 'adopted') throw portcullisError(how);
      made = true;
      return Promise.resolve({
        how,
        coderWorkspaceId: `w-${ticket}`,
        buildId: `b-${ticket}`,
        unserved: script.unserved === true,
      });
    },
    observeProvisioning: () => Promise.resolve(answered(script.install?.(asked('install')) ?? READY)),
    watchWorkspace: async () => script.watch?.(asked('watch')) ?? (await untilCancelled()),
    askToPush() {
      seen.calls.push('push');
      const came = script.push?.(asked('push')) ?? 'idle';
      if (came !== 'idle' && came !== 'time_over') throw portcullisError(came);
      return Promise.resolve({ came });
    },
    quietChats() {
      seen.calls.push('chats');
      const active = script.chats?.(asked('chats')) ?? 0;
      if (typeof active === 'string') throw portcullisError(active);
      return Promise.resolve({ active });
    },
    locateWorkspace() {
      seen.calls.push('locate');
      return Promise.resolve(
        answered(script.located?.(asked('locate')) ?? made)
          ? { found: 'present' as const, coderWorkspaceId: `w-${ticket}` }
          : { found: 'nothing' as const },
      );
    },
    advanceDelete({ activeVersion }) {
      seen.calls.push(activeVersion ? 'delete:active' : 'delete');
      return Promise.resolve(answered(script.remove?.(asked('delete')) ?? GONE));
    },
    sweepCompute() {
      seen.calls.push('sweep');
      const code = script.sweep?.(asked('sweep')) ?? null;
      if (code !== null) throw portcullisError(code);
      return Promise.resolve({ swept: 0 });
    },
    orphanWorkspace() {
      seen.calls.push('orphan');
      if (script.orphan !== undefined) throw portcullisError(script.orphan);
      return Promise.resolve();
    },
  };
}

function answered<T extends object | boolean>(answer: T | ErrorCode): T {
  if (typeof answer === 'string') throw portcullisError(answer);
  return answer;
}

/** As the store keeps it: what has no canonical bytes is refused. */
function kept<T>(record: T): T {
  canonicalText(record);
  return record;
}

async function untilCancelled(): Promise<WatchAnswer> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), 50);
  await context.cancelled.catch(() => {}).finally(() => clearInterval(beat));
  throw new CancelledFailure('cancelled');
}
