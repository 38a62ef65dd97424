/**
 * `workspace`: owns one workspace from before it exists until it is proved gone (spec/workspaces.md). No execution or run
 * time-out may be set on it: those run no cleanup. Its history is short (a watch is one activity in five minutes), so it continues
 * as new only while quarantined, which has no end of its own.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { shortened } from '../../schemas/text.ts';
import type { DestroyInput, WorkspaceLocalActivities } from '../../schemas/workspace/activities.ts';
import type { IncidentRecord, WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import {
  WORKSPACE_QUERIES,
  WORKSPACE_SIGNALS,
  WORKSPACE_UPDATES,
  type IncidentRuled,
  type IncidentRuling,
  type SlotPlace,
  type WorkspaceEnded,
  type WorkspaceExtended,
  type WorkspaceExtension,
  type WorkspaceInput,
  type WorkspaceRelease,
  type WorkspaceShortening,
} from '../../schemas/workspace/workflow.ts';
import { execute, extend, shorten } from './execute.ts';
import { codeOfFailure, isCancel } from './failure.ts';
import { endedAs, firstRecord, lifeOf, type End, type Life } from './life.ts';
import { makeReady } from './provision.ts';
import { STORE_RETRY } from './options.ts';
import { quarantine } from './quarantine.ts';
import { tearDown } from './teardown.ts';

/** Nothing can be done about it here: the workflow itself fails by it, so that lists show it. */
const NOT_CONFIGURED = 'coder_not_configured';
/** What an operator may write. */
const REASON_CHARS = 500;

const store = proxyLocalActivities<WorkspaceLocalActivities>(STORE_RETRY);

/** What goes along when a quarantined workspace continues as new. */
export interface CarriedQuarantine {
  readonly record: WorkspaceRecord;
  readonly incident: IncidentRecord;
  readonly end: End;
  /** Taken while the last attempt of the run before went on, and not obeyed yet. */
  readonly ruling?: IncidentRuling | null;
}

export async function workspace(
  input: WorkspaceInput,
  carried: CarriedQuarantine | null = null,
): Promise<WorkspaceEnded> {
  const life = lifeOf(carried?.record ?? firstRecord(input, workflowInfo().workflowId, Date.now()));
  if (carried !== null) return await resume(life, carried, (next) => continueAsNew<typeof workspace>(input, next));
  const living = new CancellationScope();
  hear(life, living);
  const end = await living.run(() => live(life, input)).catch((thrown: unknown) => endOf(life, thrown));
  return await conclude(life, end, (next) => continueAsNew<typeof workspace>(input, next));
}

/** Ends what a closed owner left; started under that owner's id, so the two can never run together. */
export async function destroyWorkspace(
  input: DestroyInput,
  carried: CarriedQuarantine | null = null,
): Promise<WorkspaceEnded> {
  // It exists again, or still: what closed its record before was no proof.
  const life = lifeOf(carried?.record ?? { ...input.record, endedAt: null });
  const again = (next: CarriedQuarantine) => continueAsNew<typeof destroyWorkspace>(input, next);
  if (carried !== null) return await resume(life, carried, again);
  hear(life, new CancellationScope());
  // What its predecessor got to is unknown: the slot is asked for nothing, and freed only by the proof.
  life.mayExist = true;
  life.createPending = life.record.coderWorkspaceId === null;
  life.slot = 'granted';
  life.incident = await CancellationScope.nonCancellable(() => incidentBefore(life));
  return await conclude(life, { trigger: 'orphaned', reason: 'owner_closed', became: 'ended' }, again);
}

/** Of a predecessor that was ended while it was quarantined, or that a person closed: it ends with the proof, or is open again. */
async function incidentBefore({ record }: Life): Promise<IncidentRecord | null> {
  try {
    return await store.readUnprovenIncident(record.tenant, record.id);
  } catch (thrown) {
    // One that cannot be read keeps nothing from being destroyed.
    codeOfFailure(thrown);
    return null;
  }
}

function hear(life: Life, living: CancellationScope): void {
  setHandler(defineSignal(WORKSPACE_SIGNALS.slotGranted), () => void (life.slot = 'granted'));
  setHandler(defineSignal<[SlotPlace]>(WORKSPACE_SIGNALS.slotPlace), (place) => void (life.place = place));
  setHandler(defineSignal(WORKSPACE_SIGNALS.vanished), () => void (life.vanished = true));
  setHandler(defineSignal<[WorkspaceShortening]>(WORKSPACE_SIGNALS.shorten), (asked) => shorten(life, asked));
  setHandler(defineSignal<[WorkspaceRelease]>(WORKSPACE_SIGNALS.release), (release) => {
    life.release ??= release;
    living.cancel();
  });
  setHandler(defineQuery<WorkspaceRecord>(WORKSPACE_QUERIES.record), () => life.record);
  setHandler(defineUpdate<WorkspaceExtended, [WorkspaceExtension]>(WORKSPACE_UPDATES.extend), (asked) =>
    extend(life, asked),
  );
  setHandler(defineUpdate<IncidentRuled, [IncidentRuling]>(WORKSPACE_UPDATES.resolveIncident), (ruling) => {
    if (life.incident === null || life.ruling !== null) return { taken: false };
    const { by, reason } = ruling;
    // It becomes part of records: text that has no canonical bytes would fail the owner in the middle of a teardown.
    life.ruling = { ...ruling, by: shortened(by, 255), reason: shortened(reason, REASON_CHARS) };
    return { taken: true };
  });
}

async function live(life: Life, input: WorkspaceInput): Promise<End> {
  life.pushes = input.source.branch !== null;
  const without = await makeReady(life, input);
  if (without !== null) return without;
  const { plan } = life;
  if (plan === null) throw new Error('a workspace became ready without a plan');
  return await execute(life, plan);
}

/** How it ended, for what stopped it: its owner's word, a cancel, or a step that failed. */
function endOf(life: Life, thrown: unknown): End {
  const became = life.offered ? 'ended' : 'never_ready';
  if (isCancel(thrown)) {
    const { release } = life;
    return release === null
      ? { trigger: 'cancelled', reason: 'cancelled', became }
      : { trigger: release.trigger, reason: release.reason, became };
  }
  return { trigger: 'failed', reason: codeOfFailure(thrown), became };
}

type Again = (carried: CarriedQuarantine) => Promise<never>;

async function conclude(life: Life, end: End, again: Again): Promise<WorkspaceEnded> {
  return await CancellationScope.nonCancellable(async () => {
    const ended = await tearDown(life, end);
    await afterIncident(life, end, again);
    return close(end, ended);
  });
}

function close({ trigger, reason }: End, ended: WorkspaceEnded): WorkspaceEnded {
  if (reason === NOT_CONFIGURED) throw ApplicationFailure.nonRetryable('no Coder server is set up', NOT_CONFIGURED);
  if (trigger === 'cancelled') throw new CancelledFailure('the workspace was cancelled, and nothing of it is left');
  return ended;
}

async function resume(life: Life, { incident, end, ruling }: CarriedQuarantine, again: Again): Promise<WorkspaceEnded> {
  life.incident = incident;
  life.ruling = ruling ?? null;
  life.mayExist = true;
  life.createPending = life.record.coderWorkspaceId === null;
  life.ending = true;
  hear(life, new CancellationScope());
  return await CancellationScope.nonCancellable(async () => {
    await afterIncident(life, end, again);
    return close(end, endedAs(life, end, life.record.state === 'gone' ? 'gone' : 'quarantined'));
  });
}

/** Until an incident, if there is one, is over. */
async function afterIncident(life: Life, end: End, again: Again): Promise<void> {
  const isOver = life.incident === null || (await quarantine(life));
  await condition(allHandlersFinished);
  if (isOver || life.incident === null) return;
  await again({ record: life.record, incident: life.incident, end, ruling: life.ruling });
}
