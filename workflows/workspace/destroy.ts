/**
 * The rungs of the teardown that may fail: find it, delete it, prove that it is gone, sweep what it left. One call is one attempt,
 * and each may be repeated for ever.
 */
import { proxyActivities, sleep } from '@temporalio/workflow';
import type { DeleteSight, WorkspaceActivities } from '../../schemas/workspace/activities.ts';
import type { Life } from './life.ts';
import { codeOfFailure } from './failure.ts';
import { BOUNDED_CALL, CODER_CALL, lookOptions } from './options.ts';
import { refOf, show } from './session.ts';

const LOOK_MS = 20_000;
const { locateWorkspace } = proxyActivities<WorkspaceActivities>(CODER_CALL);
const { advanceDelete } = proxyActivities<WorkspaceActivities>(lookOptions(LOOK_MS));
const { sweepCompute } = proxyActivities<WorkspaceActivities>(BOUNDED_CALL);

/** Longer than a call to Coder can take: a create whose answer was lost has happened by then, or never will. */
const CREATE_SETTLES_MS = 45_000;
/** A pending build is failed by Coder after 30 minutes, a hung one after 5. */
const BUSY_BOUND_MS = 40 * 60_000;
const DELETING_BOUND_MS = 40 * 60_000;

export type Attempt =
  | { readonly gone: true; readonly detail: string }
  | { readonly gone: false; readonly reason: string; readonly detail: string };

/** One attempt; `activeVersion` deletes with the template's active version instead of the last build's. */
export async function destroyOnce(life: Life, activeVersion: boolean): Promise<Attempt> {
  try {
    const id = await locate(life);
    const deleted: Attempt =
      id === null ? { gone: true, detail: 'nothing was ever made' } : await remove(life, id, activeVersion);
    if (!deleted.gone) return deleted;
    show(life, 'sweep', `${deleted.detail}; sweeping what it left`);
    const { swept } = await sweepCompute(refOf(life.record));
    const left = swept === null ? 'no sweep is set up' : `${swept} left-overs swept`;
    return { gone: true, detail: `${deleted.detail}; ${left}` };
  } catch (thrown) {
    const reason = codeOfFailure(thrown);
    return { gone: false, reason, detail: `an attempt to destroy it failed: ${reason}` };
  }
}

/** Coder's id of the workspace; null when nothing carries this run. */
async function locate(life: Life): Promise<string | null> {
  const { coderWorkspaceId } = life.record;
  if (coderWorkspaceId !== null) return coderWorkspaceId;
  show(life, 'coder', 'looking whether it was made');
  let located = await locateWorkspace(refOf(life.record));
  if (located.found === 'nothing' && life.createPending) {
    show(life, 'coder', 'waiting out a create whose answer was lost');
    await sleep(CREATE_SETTLES_MS);
    located = await locateWorkspace(refOf(life.record));
    life.createPending = false;
  }
  if (located.found === 'nothing') return null;
  life.record = { ...life.record, coderWorkspaceId: located.coderWorkspaceId };
  return located.coderWorkspaceId;
}

async function remove(life: Life, coderWorkspaceId: string, activeVersion: boolean): Promise<Attempt> {
  let seen: DeleteSight | null = null;
  let since = Date.now();
  for (;;) {
    show(life, 'coder', seen?.detail ?? 'asking Coder to delete it');
    const sight: DeleteSight = await advanceDelete({
      coderWorkspaceId,
      buildId: seen?.buildId ?? null,
      activeVersion,
      seen,
      forMs: LOOK_MS,
    });
    if (sight.at === 'gone') return { gone: true, detail: 'deleted, and Coder answers that it is gone' };
    if (sight.at === 'failed') return { gone: false, reason: sight.reason, detail: sight.detail };
    if (sight.at !== seen?.at) since = Date.now();
    else if (Date.now() - since >= (sight.at === 'busy' ? BUSY_BOUND_MS : DELETING_BOUND_MS)) {
      return { gone: false, reason: `stuck_${sight.at}`, detail: sight.detail };
    }
    if (seen !== null && seen.at === sight.at && seen.detail === sight.detail) await sleep(2_000);
    seen = sight;
  }
}
