/**
 * Before a planned teardown FORGE (or LORE) is asked to push, and gets a short time for it inside its TTL (spec/workspaces.md
 * section 4). Its credentials hold for that time; what it claims lengthens nothing (invariant 12).
 */
import { proxyActivities } from '@temporalio/workflow';
import type { WorkspaceActivities } from '../../schemas/workspace/activities.ts';
import type { WorkspaceEnding } from '../../schemas/workspace/workflow.ts';
import { codeOfFailure } from './failure.ts';
import { tellOwner, type End, type Life } from './life.ts';
import { FINAL } from './options.ts';
import { show, tell } from './session.ts';

const MOST_SECONDS = 60;
/** Of a short life only a part is kept back. */
const SHARE = 10;
/** From the last look to the answer, and no longer when nobody is there who could look. */
const GRACE_SECONDS = 2;
/** Less is not worth asking for. */
const LEAST_SECONDS = 1;

/** Milliseconds before the deadline at which the workspace begins to end; 0 for one that pushes nothing. */
export function lastPushMs({ pushes, record }: Life): number {
  const { readyAt, deadline } = record;
  if (!pushes || readyAt === null || deadline === null) return 0;
  return Math.min(MOST_SECONDS * 1000, (deadline - readyAt) / SHARE);
}

/** Asks and waits. A failure to ask is no reason to keep the workspace. */
export async function lastPush(life: Life, end: End): Promise<void> {
  const seconds = Math.min(MOST_SECONDS, secondsLeft(life));
  if (!isPlanned(life, end) || seconds < LEAST_SECONDS) return;
  const { run, tenant } = life.record;
  const ending: WorkspaceEnding = { run };
  await tellOwner(life, 'ending', ending);
  show(life, 'agent', `its agent is asked to push, for at most ${seconds} s`);
  const { askToPush } = proxyActivities<WorkspaceActivities>({
    scheduleToCloseTimeout: (seconds + GRACE_SECONDS) * 1000,
    heartbeatTimeout: '30s',
    retry: { initialInterval: '500ms', maximumAttempts: 5, nonRetryableErrorTypes: FINAL },
  });
  const came = await askToPush({ run, tenant, seconds }).then(
    (answer) => answer.came,
    (thrown: unknown) => codeOfFailure(thrown),
  );
  await tell(life, {}, { phase: 'teardown', outcome: 'asked', detail: `its agent was asked to push: ${came}` });
}

/** A workspace that can still be worked in, and whose work somebody may want: not one that was lost, landed or given up. */
function isPlanned({ pushes, offered, release }: Life, end: End): boolean {
  if (!pushes || !offered) return false;
  if (end.trigger === 'timeout') return true;
  return release !== null && (end.trigger === 'failed' || end.trigger === 'manual');
}

function secondsLeft({ record }: Life): number {
  return Math.floor(((record.deadline ?? 0) - Date.now()) / 1000);
}
