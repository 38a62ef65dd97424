/**
 * The rungs of the teardown that may fail: find it, delete it, prove that it is gone, sweep what it left. One call is one attempt,
 * and each may be repeated for ever.
 */
import { proxyActivities, sleep } from '@temporalio/workflow';
import type { WorkspaceActivities } from '../../schemas/workspace/activities.ts';
import { deleteOnce, type Attempt } from './delete.ts';
import { codeOfFailure } from './failure.ts';
import type { Life } from './life.ts';
import { BOUNDED_CALL, CODER_CALL, TEARDOWN_CALL_MS } from './options.ts';
import { refOf, show } from './session.ts';

const { locateWorkspace } = proxyActivities<WorkspaceActivities>({
  ...CODER_CALL,
  scheduleToCloseTimeout: TEARDOWN_CALL_MS,
});
const { sweepCompute } = proxyActivities<WorkspaceActivities>(BOUNDED_CALL);

/** Longer than a call to Coder can take: a create whose answer was lost has happened by then, or never will. */
const CREATE_SETTLES_MS = 45_000;

/** One attempt; `activeVersion` deletes with the template's active version instead of the last build's. */
export async function destroyOnce(life: Life, activeVersion: boolean): Promise<Attempt> {
  try {
    const id = await locate(life);
    const deleted: Attempt =
      id === null
        ? { gone: true, detail: 'nothing was ever made' }
        : await deleteOnce(id, activeVersion, (detail) => show(life, 'coder', detail));
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
