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
}

export interface ReconcileSight {
  readonly tenant: string;
  /** Listed before anything was described. */
  readonly owned: readonly SeenWorkspace[];
  /** Records of the store that are not over. */
  readonly records: readonly WorkspaceRecord[];
  readonly slots: readonly SlotsView[];
  /** State of every run and of every owner that the lists name; one that is missing could not be described. */
  readonly states: ReadonlyMap<string, RunState>;
  /** What the last round suspected. */
  readonly suspects: readonly string[];
}

export type ReconcileAction =
  /** Its owner is closed: a destroyer under the owner's id. */
  | {
      readonly kind: 'destroy';
      readonly run: string;
      readonly name: string;
      readonly coderWorkspaceId: string | null;
    }
  /** It carries no run of ours. */
  | { readonly kind: 'destroy_stray'; readonly coderWorkspaceId: string; readonly name: string }
  /** Its ticket is closed. */
  | { readonly kind: 'cancel'; readonly run: string }
  | { readonly kind: 'tell_vanished'; readonly run: string }
  /** Its holder is closed and never recorded a workspace. */
  | { readonly kind: 'free_slot'; readonly role: WorkspaceRole; readonly holder: string }
  /** It exists, and the slots do not know. */
  | { readonly kind: 'hold_slot'; readonly role: WorkspaceRole; readonly holder: string };

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

function* aboutOwned({ tenant, owned, states }: ReconcileSight): Iterable<ReconcileAction> {
  for (const { coderWorkspaceId, name, run } of owned) {
    const of = run === null ? null : tenantOf(run);
    if (run === null || of === null) yield { kind: 'destroy_stray', coderWorkspaceId, name };
    // Another tenant's reconciler looks after its own.
    else if (of === tenant && isOver(states.get(run))) yield { kind: 'destroy', run, name, coderWorkspaceId };
  }
}

function* aboutRecords({ owned, records, slots, states }: ReconcileSight): Iterable<ReconcileAction> {
  const present = new Set(owned.map(({ run }) => run));
  const known = new Set(slots.flatMap(holdersOf));
  for (const record of records) {
    const { run, owner, role, state, coderWorkspaceId } = record;
    const runState = states.get(run);
    if (isOver(runState)) {
      yield { kind: 'destroy', run, name: record.id, coderWorkspaceId };
      continue;
    }
    if (runState !== 'open') continue;
    const isEnding = state === 'ending' || state === 'quarantined';
    if (isOver(states.get(owner)) && !isEnding) yield { kind: 'cancel', run };
    if (coderWorkspaceId !== null && !isEnding && !present.has(run)) yield { kind: 'tell_vanished', run };
    if (coderWorkspaceId !== null && !known.has(run)) yield { kind: 'hold_slot', role, holder: run };
  }
}

function* aboutSlots({ owned, records, slots, states }: ReconcileSight): Iterable<ReconcileAction> {
  const looked = new Set([...owned.map(({ run }) => run), ...records.map(({ run }) => run)]);
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
export function idsToDescribe(
  sight: Pick<ReconcileSight, 'tenant' | 'owned' | 'records' | 'slots'>,
): readonly string[] {
  const runs = sight.owned.flatMap(({ run }) => (run !== null && tenantOf(run) === sight.tenant ? [run] : []));
  const named = sight.records.flatMap(({ run, owner }) => (owner === '' ? [run] : [run, owner]));
  return [...new Set([...runs, ...named, ...sight.slots.flatMap(holdersOf)])];
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
      return `${action.kind} ${action.holder}`;
  }
}
