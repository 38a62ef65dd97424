/**
 * What the reconciler does about what it saw (spec/workspaces.md section 6): a pure decision over lists that were taken one after the
 * other. So nothing is believed at first sight: only what two rounds running saw is acted on.
 */
import { parseWorkspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import { workspaceName } from '../../schemas/workspace/name.ts';
import type { WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import type { SlotsView } from '../../schemas/workspace/slots.ts';
import type { WorkspaceRole } from '../../schemas/workspace/workflow.ts';

/** What a Describe by id said. */
export type RunState = 'open' | 'closed' | 'absent';

/** A workspace of the service user. */
export interface SeenWorkspace {
  readonly coderWorkspaceId: string;
  readonly name: string;
  /** Null when it carries no run parameter. */
  readonly run: string | null;
  /** The store has a record of a workspace of this name: it is written before anything carries the name. */
  readonly recorded: boolean;
}

export interface ReconcileSight {
  readonly tenant: string;
  /** Every tenant that has a reconciler beside this one; this one is among them. */
  readonly served: readonly string[];
  /** Listed before anything was described, like what follows. */
  readonly owned: readonly SeenWorkspace[];
  /** Records of the store that are not over. */
  readonly records: readonly WorkspaceRecord[];
  readonly slots: readonly SlotsView[];
  /** State of every run and of every owner that the lists name; one that is missing is not known. */
  readonly states: ReadonlyMap<string, RunState>;
  /** What the last round suspected. */
  readonly suspects: readonly string[];
}

/** What was listed, before anything was described. */
export type ReconcileLists = Pick<ReconcileSight, 'tenant' | 'served' | 'owned' | 'records' | 'slots'>;

export type ReconcileAction =
  /** Its owner is closed: a destroyer under the owner's id. */
  | {
      readonly kind: 'destroy';
      readonly run: string;
      readonly name: string;
      readonly coderWorkspaceId: string | null;
    }
  /** It belongs to no run of ours. */
  | { readonly kind: 'destroy_stray'; readonly coderWorkspaceId: string; readonly name: string }
  /** Its ticket is closed. */
  | { readonly kind: 'cancel'; readonly run: string }
  | { readonly kind: 'tell_vanished'; readonly run: string }
  /** Its holder is closed and never recorded a workspace. */
  | { readonly kind: 'free_slot'; readonly role: WorkspaceRole; readonly holder: string }
  /** It exists, and the slots do not know. */
  | { readonly kind: 'hold_slot'; readonly role: WorkspaceRole; readonly holder: string }
  /** It cannot be destroyed, and the slots do not know: it holds none, and counts towards what stops the role. */
  | { readonly kind: 'quarantine_slot'; readonly role: WorkspaceRole; readonly holder: string }
  /** It waits for a slot, and the slots do not know. */
  | { readonly kind: 'ask_slot'; readonly role: WorkspaceRole; readonly holder: string };

export interface ReconcileDecision {
  readonly actions: readonly ReconcileAction[];
  /** For the next round. */
  readonly suspects: readonly string[];
}

export function decideReconcile(sight: ReconcileSight): ReconcileDecision {
  const wanted = new Map<string, ReconcileAction>();
  for (const action of [...aboutOwned(sight), ...aboutRecords(sight), ...aboutSlots(sight)]) {
    const key = keyOf(action);
    if (!wanted.has(key)) wanted.set(key, action);
  }
  const before = new Set(sight.suspects);
  return {
    actions: [...wanted].filter(([key]) => before.has(key)).map(([, action]) => action),
    suspects: [...wanted.keys()],
  };
}

function* aboutOwned({ tenant, served, owned, states }: ReconcileSight): Iterable<ReconcileAction> {
  for (const seen of owned) {
    const { coderWorkspaceId, name, recorded } = seen;
    const run = runOf(seen);
    const of = run === null ? null : tenantOf(run);
    if (run === null || of === null) yield { kind: 'destroy_stray', coderWorkspaceId, name };
    else if (!isOver(states.get(run))) continue;
    else if (of !== tenant) {
      // A served tenant's reconciler looks after its own; of any other nobody would ever end it.
      if (!served.includes(of)) yield { kind: 'destroy_stray', coderWorkspaceId, name };
    } else if (recorded || states.get(run) === 'closed') yield { kind: 'destroy', run, name, coderWorkspaceId };
    // A chat made it under a run that is still to come: a destroyer with its id would be in the way of the real one.
    else yield { kind: 'destroy_stray', coderWorkspaceId, name };
  }
}

function* aboutRecords({ owned, records, slots, states }: ReconcileSight): Iterable<ReconcileAction> {
  const present = new Set(owned.map(runOf));
  const known = new Set(slots.flatMap(holdersOf));
  // Who waited longest asks first.
  for (const record of records.toSorted((one, other) => one.startedAt - other.startedAt)) {
    const { run, owner, role, state, phase, coderWorkspaceId } = record;
    const runState = states.get(run);
    if (isOver(runState)) {
      yield { kind: 'destroy', run, name: record.id, coderWorkspaceId };
      continue;
    }
    if (runState !== 'open') continue;
    const isQuarantined = state === 'quarantined';
    const isEnding = state === 'ending' || isQuarantined;
    if (isOver(states.get(owner)) && !isEnding) yield { kind: 'cancel', run };
    if (coderWorkspaceId !== null && !isEnding && !present.has(run)) yield { kind: 'tell_vanished', run };
    if (known.has(run)) continue;
    if (isQuarantined) yield { kind: 'quarantine_slot', role, holder: run };
    else if (state === 'provisioning' || coderWorkspaceId !== null) yield { kind: 'hold_slot', role, holder: run };
    else if (state === 'waiting' && phase === 'assign') yield { kind: 'ask_slot', role, holder: run };
  }
}

function* aboutSlots({ owned, records, slots, states }: ReconcileSight): Iterable<ReconcileAction> {
  const looked = new Set([...owned.map(runOf), ...records.map(({ run }) => run)]);
  for (const { role, holders, waiting, quarantined } of slots) {
    for (const { holder } of waiting) {
      if (isOver(states.get(holder))) yield { kind: 'free_slot', role, holder };
    }
    for (const { holder, recorded } of holders) {
      if (!isOver(states.get(holder))) continue;
      if (!recorded) yield { kind: 'free_slot', role, holder };
      // Nothing is known of it any more, yet only a proof frees the slot: the destroyer looks, and proves.
      else if (!looked.has(holder))
        yield { kind: 'destroy', run: holder, name: workspaceName(holder), coderWorkspaceId: null };
    }
    for (const { holder } of quarantined) {
      if (isOver(states.get(holder)) && !looked.has(holder)) {
        yield { kind: 'destroy', run: holder, name: workspaceName(holder), coderWorkspaceId: null };
      }
    }
  }
}

/** Every workflow id whose state a decision needs. */
export function idsToDescribe(sight: ReconcileLists): readonly string[] {
  const runs = sight.owned.flatMap((seen) => {
    const run = runOf(seen);
    return run !== null && isLookedAfter(sight, tenantOf(run)) ? [run] : [];
  });
  const named = sight.records.flatMap(({ run, owner }) => (owner === '' ? [run] : [run, owner]));
  return [...new Set([...runs, ...named, ...sight.slots.flatMap(holdersOf)])];
}

/** Workflow ids on which actions of these keys rest: described before any of them is suspected or done. */
export function idsBehind(sight: ReconcileLists, keys: readonly string[]): readonly string[] {
  const runs = new Map(sight.owned.map((seen) => [seen.coderWorkspaceId, runOf(seen)]));
  const owners = new Map(sight.records.map(({ run, owner }) => [run, owner]));
  return keys.flatMap((key) => {
    const subject = key.slice(key.indexOf(' ') + 1);
    const run = runs.has(subject) ? (runs.get(subject) ?? null) : subject;
    return run === null ? [] : [run, owners.get(run) ?? ''].filter((id) => id !== '');
  });
}

/** Null for one that is not ours, whatever it carries: a chat can put any run on what it makes, and the name is the run's alone. */
function runOf({ run, name }: SeenWorkspace): string | null {
  if (run === null || tenantOf(run) === null) return null;
  return name === workspaceName(run) ? run : null;
}

function isLookedAfter({ tenant, served }: ReconcileLists, of: string | null): boolean {
  return of !== null && (of === tenant || !served.includes(of));
}

function holdersOf({ holders, waiting, quarantined }: SlotsView): readonly string[] {
  return [...holders, ...waiting, ...quarantined].map(({ holder }) => holder);
}

function isOver(state: RunState | undefined): boolean {
  return state === 'closed' || state === 'absent';
}

/** Null when the text is not a run of ours at all. */
function tenantOf(run: string): string | null {
  try {
    return parseWorkspaceWorkflowId(run).tenant;
  } catch {
    return null;
  }
}

function keyOf(action: ReconcileAction): string {
  switch (action.kind) {
    case 'destroy':
    case 'cancel':
    case 'tell_vanished':
      return `${action.kind} ${action.run}`;
    case 'destroy_stray':
      return `${action.kind} ${action.coderWorkspaceId}`;
    case 'free_slot':
    case 'hold_slot':
    case 'quarantine_slot':
    case 'ask_slot':
      return `${action.kind} ${action.holder}`;
  }
}
