/** Long looks at a workspace: while it is made, and while it works. */
import { readiness } from '../../schemas/coder/build.ts';
import type { WorkspaceReading } from '../../schemas/coder/workspace.ts';
import { PortcullisError } from '../../schemas/errors.ts';
import type { ProvisionLook, ProvisionSight, WatchAnswer, WatchLook } from '../../schemas/workspace/activities.ts';
import { provisionSight, type DoorSight } from '../../policies/workspaces/sight.ts';
import type { WorkspaceDependencies } from './dependencies.ts';
import { coderOf } from './provision.ts';
import { lookUntil, type Pulse } from './pulse.ts';

/** Answers as soon as what is seen differs from `look.seen`. */
export async function observeProvisioning(
  needs: WorkspaceDependencies,
  look: ProvisionLook,
  pulse: Pulse,
): Promise<ProvisionSight> {
  const { port } = coderOf(needs);
  return await lookUntil(
    pulse,
    look.forMs,
    async () => provisionSight(await port.readById(look.coderWorkspaceId, pulse), await doorSight(needs, look)),
    (sight) => sight.step !== look.seen?.step || sight.detail !== look.seen.detail,
  );
}

async function doorSight(needs: WorkspaceDependencies, { seat }: ProvisionLook): Promise<DoorSight> {
  if (seat === null) return null;
  const presence = await needs.store.readPresence(seat);
  return presence === 'idle' || presence === 'busy' ? 'there' : 'not_there';
}

const WATCH_EVERY_MS = 5_000;
/** The owner is described this often: the reconciler does it as well. */
const OWNER_EVERY_MS = 30_000;

/** Answers when something is wrong, or that it is alive after `look.forMs`. What cannot be read is no sign of anything. */
export async function watchWorkspace(
  needs: WorkspaceDependencies,
  look: WatchLook,
  pulse: Pulse,
): Promise<WatchAnswer> {
  const start = pulse.now();
  const lost = absence(needs.staleAfterMs, pulse);
  const away = absence(needs.staleAfterMs, pulse);
  let ownerSeen = Number.NEGATIVE_INFINITY;
  for (;;) {
    const reading = await unlessAway(() => coderOf(needs).port.readById(look.coderWorkspaceId, pulse));
    const stale = reading === null ? null : staleness(reading);
    if (stale === 'agent_lost' ? lost(true) : stale !== null) return { kind: 'stale', reason: stale ?? 'agent_lost' };
    if (stale === null && reading !== null) lost(false);
    if (look.seat !== null) {
      const { seat } = look;
      const presence = await unlessAway(() => needs.store.readPresence(seat));
      if (away(presence === 'absent')) return { kind: 'stale', reason: 'presence_absent' };
    }
    if (pulse.now() - ownerSeen >= OWNER_EVERY_MS) {
      ownerSeen = pulse.now();
      const owner = await needs.describe(look.owner).catch(() => 'open' as const);
      if (owner === 'closed') return { kind: 'owner_closed' };
    }
    const left = look.forMs - (pulse.now() - start);
    if (left <= 0) return { kind: 'alive' };
    await pulse.pause(Math.min(WATCH_EVERY_MS, left));
  }
}

/** Null when it is as it should be. A 404 is no proof of anything. */
function staleness(reading: WorkspaceReading): 'gone' | 'not_running' | 'agent_lost' | null {
  if (reading.seen === 'deleted') return 'gone';
  if (reading.seen === 'unseen') return null;
  switch (readiness(reading.workspace.build)) {
    case 'ready':
      return null;
    case 'not_started':
    case 'failed':
      return 'not_running';
    // A rebuild gives it a new agent and a used claim code: it is as good as lost.
    case 'building':
    case 'connecting':
    case 'lost':
      return 'agent_lost';
  }
}

/** True once it has been told `true` for that long without a `false` in between. */
function absence(forMs: number, pulse: Pulse): (isAbsent: boolean) => boolean {
  let since: number | null = null;
  return (isAbsent) => {
    if (!isAbsent) since = null;
    else since ??= pulse.now();
    return since !== null && pulse.now() - since >= forMs;
  };
}

async function unlessAway<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (thrown) {
    if (thrown instanceof PortcullisError) return null;
    throw thrown;
  }
}
