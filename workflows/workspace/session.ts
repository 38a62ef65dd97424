/**
 * What a workspace's workflow knows and shows: its record, the numbered writes of it, and what an operator sees in the stock
 * Temporal UI before each wait (invariant 16).
 */
import { proxyLocalActivities, setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import { shortened } from '../../schemas/text.ts';
import type { WorkspaceLocalActivities, WorkspaceRef } from '../../schemas/workspace/activities.ts';
import type {
  LifecycleDraft,
  LifecycleOutcome,
  WorkspacePhase,
  WorkspaceRecord,
} from '../../schemas/workspace/lifecycle.ts';
import { STORE_RETRY } from './options.ts';

const { recordWorkspace } = proxyLocalActivities<WorkspaceLocalActivities>(STORE_RETRY);

/** Of an event and of the record. */
const DETAIL_CHARS = 512;

/** One thing that happened in a phase. */
export interface Said {
  readonly phase: WorkspacePhase;
  readonly outcome: LifecycleOutcome;
  readonly detail: string;
}

/** The mutable part of a run; workflow code has one thread. */
export interface Session {
  record: WorkspaceRecord;
  writes: number;
  /** Writes go one after the other: the store drops a number below the last one. */
  lastWrite: Promise<void>;
  shown: string;
}

export function openSession(record: WorkspaceRecord): Session {
  return { record, writes: 0, lastWrite: Promise.resolve(), shown: '' };
}

export function refOf({ tenant, ticket, role, workspaceGeneration, run, id }: WorkspaceRecord): WorkspaceRef {
  return { tenant, ticket, role, workspaceGeneration, run, name: id };
}

/** Changes the record and writes it with what happened, in one step of the store. */
export async function tell(
  session: Session,
  change: Partial<WorkspaceRecord>,
  ...said: readonly Said[]
): Promise<void> {
  const last = said.at(-1);
  const current = last === undefined ? {} : { phase: last.phase, detail: shortened(last.detail, DETAIL_CHARS) };
  session.record = { ...session.record, ...current, ...change };
  session.writes += 1;
  const { record } = session;
  const write = {
    tenant: record.tenant,
    source: workflowInfo().runId,
    n: session.writes,
    record,
    events: said.map((one) => draft(record, one)),
  };
  const before = session.lastWrite;
  const done = before.catch(() => {}).then(() => recordWorkspace(write));
  session.lastWrite = done;
  await done;
}

function draft(record: WorkspaceRecord, { phase, outcome, detail }: Said): LifecycleDraft {
  return {
    ticket: record.ticket,
    role: record.role,
    workspace: record.id,
    generation: record.workspaceGeneration,
    phase,
    outcome,
    ...(record.trigger === null ? {} : { trigger: record.trigger }),
    detail: shortened(detail, DETAIL_CHARS),
  };
}

/** Says what the next wait is for. `waitingOn` is a short stable word, `nothing` at the end. */
export function show(session: Session, waitingOn: string, detail: string): void {
  session.record = { ...session.record, waitingOn, detail: shortened(detail, DETAIL_CHARS) };
  const { record } = session;
  const key = `${record.phase}|${record.state}|${waitingOn}|${detail}`;
  if (key === session.shown) return;
  session.shown = key;
  upsertSearchAttributes([
    { key: SEARCH_ATTRIBUTES.tenant, value: record.tenant },
    { key: SEARCH_ATTRIBUTES.ticketId, value: record.ticket },
    { key: SEARCH_ATTRIBUTES.pairId, value: record.ticket },
    { key: SEARCH_ATTRIBUTES.role, value: record.role },
    { key: SEARCH_ATTRIBUTES.phase, value: record.phase },
    { key: SEARCH_ATTRIBUTES.waitingOn, value: waitingOn },
    { key: SEARCH_ATTRIBUTES.state, value: record.state === 'gone' ? 'closed' : record.state },
  ]);
  setCurrentDetails(
    [
      `**${record.role} workspace ${record.id} of ${record.ticket}** (generation ${record.workspaceGeneration})`,
      `For: ${record.purpose}`,
      `${record.phase}: ${detail}`,
      `Waiting on: ${waitingOn}`,
      ...(record.deadline === null ? [] : [`Torn down at the latest: ${new Date(record.deadline).toISOString()}`]),
    ].join('\n\n'),
  );
}

/** The same for a workspace that is not ours. */
export function showStray(tenant: string, name: string, detail: string): void {
  upsertSearchAttributes([
    { key: SEARCH_ATTRIBUTES.tenant, value: tenant },
    { key: SEARCH_ATTRIBUTES.phase, value: 'teardown' },
    { key: SEARCH_ATTRIBUTES.waitingOn, value: 'coder' },
    { key: SEARCH_ATTRIBUTES.state, value: 'ending' },
  ]);
  setCurrentDetails(`**${name} belongs to no run of ours**\n\n${detail}\n\nWaiting on: coder`);
}
