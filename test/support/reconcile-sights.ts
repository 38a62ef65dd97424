/** What a round of the reconciler sees, for tests of what it decides. */
import {
  decideReconcile,
  type ReconcileAction,
  type ReconcileSight,
  type RunState,
} from '../../policies/workspaces/reconcile.ts';
import { workspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import type { SlotHolder, SlotsView } from '../../schemas/workspace/slots.ts';

export function runOf(n: number, tenant = 'local'): string {
  return workspaceWorkflowId({ tenant, ticket: `T-${n}`, role: 'forge', workspaceGeneration: 1 });
}

/** Of FORGE. */
export function slotsOf(change: Partial<SlotsView>): SlotsView {
  return {
    schema: 'portcullis/slots/v1',
    role: 'forge',
    capacity: 9,
    holders: [],
    waiting: [],
    quarantined: [],
    idle: 0,
    stopped: false,
    ...change,
  };
}

export function holding(holder: string, recorded = true): SlotHolder {
  return { holder, recorded, state: 'working', since: 0 };
}

export function sightOf(
  change: Partial<ReconcileSight>,
  states: Readonly<Record<string, RunState>> = {},
): ReconcileSight {
  return {
    tenant: 'local',
    served: ['local', 'other'],
    owned: [],
    records: [],
    slots: [],
    suspects: [],
    states: new Map(Object.entries(states)),
    ...change,
  };
}

/** What the second of two rounds does that saw the same; the first does nothing. */
export function secondRound(sight: ReconcileSight): readonly ReconcileAction[] {
  const first = decideReconcile(sight);
  if (first.actions.length > 0) throw new Error(`acted at first sight: ${JSON.stringify(first.actions)}`);
  return decideReconcile({ ...sight, suspects: first.suspects }).actions;
}
