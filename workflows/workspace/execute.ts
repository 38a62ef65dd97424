/**
 * A ready workspace until something ends it. The timer here is the TTL: Coder's own does not move with what we decide, and
 * activity inside moves it (spec/workspaces.md section 3).
 */
import { CancellationScope, condition, proxyActivities } from '@temporalio/workflow';
import type { WatchAnswer, WorkspaceActivities, WorkspacePlan } from '../../schemas/workspace/activities.ts';
import type { WorkspaceExtended, WorkspaceExtension, WorkspaceShortening } from '../../schemas/workspace/workflow.ts';
import type { End, Life } from './life.ts';
import { codeOfFailure, isCancel } from './failure.ts';
import { lastPushMs } from './last-push.ts';
import { lookOptions } from './options.ts';
import { seatOf } from './provision.ts';
import { show, tell } from './session.ts';

const WATCH_MS = 5 * 60_000;
/** Between two watches; also how soon a watch that failed is tried again. */
const WATCH_GAP_MS = 15_000;

const { watchWorkspace } = proxyActivities<WorkspaceActivities>(lookOptions(WATCH_MS, null));

export async function execute(life: Life, plan: WorkspacePlan): Promise<End> {
  await tell(
    life,
    {},
    { phase: 'bind', outcome: 'done', detail: 'its owner was told' },
    { phase: 'execute', outcome: 'begun', detail: life.record.purpose },
  );
  for (;;) {
    const left = timeLeft(life) - lastPushMs(life);
    if (left <= 0) return { trigger: 'timeout', reason: 'ttl', became: 'ended' };
    show(life, 'release', life.record.purpose);
    const answer = await watchUntil(life, plan, left);
    switch (answer.kind) {
      case 'alive':
        break;
      case 'owner_closed':
        return { trigger: 'abandoned', reason: 'owner_closed', became: 'ended' };
      case 'stale':
        return { trigger: 'failed', reason: answer.reason, became: 'ended' };
    }
  }
}

/** One watch; `alive` also when the time moved and the caller has to look at it again. */
async function watchUntil(life: Life, plan: WorkspacePlan, left: number): Promise<WatchAnswer> {
  const { coderWorkspaceId, owner, deadline } = life.record;
  const round = new CancellationScope();
  life.vanished = false;
  try {
    return await round.run(() =>
      Promise.race([
        watched(life, {
          coderWorkspaceId: coderWorkspaceId ?? '',
          seat: seatOf(life, plan),
          owner,
          forMs: Math.min(WATCH_MS, left),
        }),
        condition(() => life.record.deadline !== deadline || life.vanished, left).then((): WatchAnswer => ({
          kind: 'alive',
        })),
      ]),
    );
  } finally {
    round.cancel();
  }
}

async function watched(life: Life, look: Parameters<WorkspaceActivities['watchWorkspace']>[0]): Promise<WatchAnswer> {
  let answer: WatchAnswer;
  try {
    answer = await watchWorkspace(look);
  } catch (thrown) {
    if (isCancel(thrown)) throw thrown;
    // Not seeing is not a sign of anything: the timer goes on, and so does the workspace.
    show(life, 'release', `${life.record.purpose}; watching it failed (${codeOfFailure(thrown)})`);
    answer = { kind: 'alive' };
  }
  if (answer.kind === 'alive') await condition(() => life.vanished, WATCH_GAP_MS);
  return answer;
}

function timeLeft({ record }: Life): number {
  return (record.deadline ?? 0) - Date.now();
}

/** The control plane's word: longer, up to the maximum that was fixed when it became ready (invariant 12). */
export async function extend(life: Life, { seconds, by, reason }: WorkspaceExtension): Promise<WorkspaceExtended> {
  const { deadline, latestDeadline } = life.record;
  if (life.ending) return { extended: false, because: 'ending' };
  if (deadline === null || latestDeadline === null) return { extended: false, because: 'not_ready' };
  if (deadline >= latestDeadline) return { extended: false, because: 'at_maximum' };
  const asked = deadline + seconds * 1000;
  const next = Math.min(asked, latestDeadline);
  const detail = `until ${new Date(next).toISOString()} by ${by}: ${reason}`;
  await tell(life, { deadline: next }, { phase: 'execute', outcome: 'extended', detail });
  return { extended: true, deadline: next, capped: next < asked };
}

/** The workspace's own word: shorter, never longer. */
export function shorten(life: Life, { seconds }: WorkspaceShortening): void {
  const { deadline } = life.record;
  if (deadline === null || !Number.isFinite(seconds)) return;
  const asked = Date.now() + Math.max(0, seconds) * 1000;
  if (asked < deadline) life.record = { ...life.record, deadline: asked };
}
