/** How many slots of a role were in use at once, from the ring of events: a slot is used from its lease to the proof that all is gone. */
import type { LifecycleReader } from '../../activities/store/lifecycle-port.ts';
import type { LifecycleEvent } from '../../schemas/workspace/lifecycle.ts';
import type { WorkspaceRole } from '../../schemas/workspace/workflow.ts';

const PAGE = 1_000;

/** Every event of the tenant that is kept. */
export async function eventsOf(lifecycle: LifecycleReader, tenant: string): Promise<readonly LifecycleEvent[]> {
  const events: LifecycleEvent[] = [];
  for (;;) {
    const page = await lifecycle.readEventRing(tenant, events.at(-1)?.seq ?? 0, PAGE);
    if (page.events.length === 0) return events;
    events.push(...page.events);
  }
}

export function mostHeld(events: readonly LifecycleEvent[]): ReadonlyMap<WorkspaceRole, number> {
  const most = new Map<WorkspaceRole, number>();
  const held = new Map<WorkspaceRole, Set<string>>();
  for (const { role, workspace, phase, outcome } of events) {
    if (role === null) continue;
    const now = held.get(role) ?? new Set();
    held.set(role, now);
    if (phase === 'assign' && outcome === 'done') now.add(workspace);
    if (phase === 'teardown' && outcome === 'done') now.delete(workspace);
    most.set(role, Math.max(most.get(role) ?? 0, now.size));
  }
  return most;
}
