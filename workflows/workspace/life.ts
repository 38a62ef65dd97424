/** One workspace's run: what it was asked, what it was told meanwhile, and how far it is. */
import { getExternalWorkflowHandle } from '@temporalio/workflow';
import type { WorkspacePlan } from '../../schemas/workspace/activities.ts';
import type { IncidentRecord, WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import type {
  IncidentRuling,
  SlotPlace,
  TeardownTrigger,
  WorkspaceEnded,
  WorkspaceInput,
  WorkspaceRelease,
} from '../../schemas/workspace/workflow.ts';
import { WORKSPACE_SIGNALS } from '../../schemas/workspace/workflow.ts';
import { workspaceName } from '../../schemas/workspace/name.ts';
import { openSession, type Session } from './session.ts';

export interface Life extends Session {
  /** Null until the registry was asked. */
  plan: WorkspacePlan | null;
  slot: 'none' | 'asked' | 'granted';
  place: SlotPlace | null;
  /** From here on a workspace may exist: only a proof frees the slot. */
  mayExist: boolean;
  /** A create was asked for, and its answer never came: it may still arrive. */
  createPending: boolean;
  /** Its owner is told that it is ready, and may have used it. */
  offered: boolean;
  release: WorkspaceRelease | null;
  vanished: boolean;
  /** Its agent may push a branch: there may be work that is nowhere else. */
  pushes: boolean;
  ending: boolean;
  /** The incident of a workspace that cannot be destroyed. */
  incident: IncidentRecord | null;
  ruling: IncidentRuling | null;
}

/** How a life ended, before its teardown. */
export interface End {
  readonly trigger: TeardownTrigger;
  /** A short stable word, or a code of the catalogue. */
  readonly reason: string;
  readonly became: WorkspaceEnded['became'];
}

export function lifeOf(record: WorkspaceRecord): Life {
  return {
    ...openSession(record),
    plan: null,
    slot: 'none',
    place: null,
    mayExist: false,
    createPending: false,
    offered: false,
    release: null,
    vanished: false,
    pushes: false,
    ending: false,
    incident: null,
    ruling: null,
  };
}

/** @param now milliseconds since the epoch */
export function firstRecord(input: WorkspaceInput, run: string, now: number): WorkspaceRecord {
  const { tenant, ticket, role, workspaceGeneration, execution, purpose, owner } = input;
  return {
    schema: 'portcullis/workspace/v1',
    id: workspaceName(run),
    run,
    tenant,
    ticket,
    role,
    workspaceGeneration,
    execution,
    purpose,
    owner,
    state: 'waiting',
    phase: 'detect',
    waitingOn: 'registry',
    detail: '',
    coderWorkspaceId: null,
    credentials: [],
    startedAt: now,
    readyAt: null,
    deadline: null,
    latestDeadline: null,
    trigger: null,
    endedAt: null,
  };
}

export function endedAs({ record }: Life, end: End, fate: WorkspaceEnded['fate']): WorkspaceEnded {
  const { run, role, workspaceGeneration } = record;
  return { run, role, workspaceGeneration, trigger: end.trigger, became: end.became, fate, reason: end.reason };
}

/** False when the owner is closed: there is nobody to tell. */
export async function tellOwner(
  { record }: Life,
  signal: 'ready' | 'ending' | 'ended',
  word: object,
): Promise<boolean> {
  // A destroyer may not know who asked for what it destroys.
  if (record.owner === '') return false;
  try {
    await getExternalWorkflowHandle(record.owner).signal(WORKSPACE_SIGNALS[signal], word);
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === 'CancelledFailure') throw thrown;
    return false;
  }
}
