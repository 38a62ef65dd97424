/**
 * What the workflows of a round are. Describing a thousand that wait costs more than everything else does while nothing happens, so one
 * list says first which of them run. A list lags: it spares a look at what seems to be well, and nothing is decided on it.
 */
import {
  decideReconcile,
  idsBehind,
  idsToDescribe,
  type ReconcileDecision,
  type ReconcileLists,
  type RunState,
} from '../../policies/workspaces/reconcile.ts';

/** Describes go out side by side, so that 200 workspaces take less than two seconds. */
const AT_ONCE = 32;
/** So few are described sooner than they are listed. */
const LIST_FROM = AT_ONCE;
/** One in so many of those that a list calls running is described all the same: a list that is wrong for good hides nothing for long. */
const SPOT_CHECK = 20;

export interface RunLooks {
  readonly describe: (workflowId: string) => Promise<RunState>;
  /** Ids of the tenant's workflows that seem to run. */
  readonly listRunning: (tenant: string) => Promise<ReadonlySet<string>>;
  /** Whether one that is listed as running is described all the same. */
  readonly isSpotChecked?: (workflowId: string) => boolean;
}

/**
 * Decides, and decides again until everything that a suspicion or an action rests on was described. One that cannot be described is left
 * out: nothing is decided about it.
 */
export async function decideOnDescribed(
  looks: RunLooks,
  lists: ReconcileLists,
  suspects: readonly string[],
): Promise<ReconcileDecision> {
  const ids = idsToDescribe(lists);
  const states = new Map<string, RunState>();
  const assumed = await assumedRunning(looks, lists.tenant, ids);
  // What was suspected is looked at whatever a list says: else a lagging one would clear it.
  const suspected = new Set(idsBehind(lists, suspects));
  let toDescribe = ids.filter((id) => !assumed.has(id) || suspected.has(id) || isSpotChecked(looks, id));
  for (;;) {
    for (const id of toDescribe) assumed.delete(id);
    await describeAll(looks, toDescribe, states);
    const all = new Map([...[...assumed].map((id) => [id, 'open'] as const), ...states]);
    const decision = decideReconcile({ ...lists, states: all, suspects });
    toDescribe = [...new Set(idsBehind(lists, decision.suspects))].filter((id) => assumed.has(id));
    if (toDescribe.length === 0) return decision;
  }
}

/** Empty when they are few, and when they cannot be listed: then each is described. */
async function assumedRunning(looks: RunLooks, tenant: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length <= LIST_FROM) return new Set();
  const running = await looks.listRunning(tenant).catch(() => new Set<string>());
  return new Set(ids.filter((id) => running.has(id)));
}

function isSpotChecked({ isSpotChecked: chosen }: RunLooks, id: string): boolean {
  return chosen === undefined ? Math.random() * SPOT_CHECK < 1 : chosen(id);
}

async function describeAll(
  { describe }: RunLooks,
  ids: readonly string[],
  states: Map<string, RunState>,
): Promise<void> {
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const some = ids.slice(start, start + AT_ONCE).map(async (id) => {
      const state = await describe(id).catch(() => null);
      if (state !== null) states.set(id, state);
    });
    await Promise.all(some);
  }
}
