/** Deleting one workspace of Coder's until it is gone or an attempt has failed. Whatever Coder answers, the attempt ends. */
import { proxyActivities, sleep } from '@temporalio/workflow';
import type { DeleteSight, WorkspaceActivities } from '../../schemas/workspace/activities.ts';
import { lookOptions, TEARDOWN_CALL_MS } from './options.ts';

const LOOK_MS = 20_000;
const { advanceDelete } = proxyActivities<WorkspaceActivities>(lookOptions(LOOK_MS, TEARDOWN_CALL_MS));

/** A pending build is failed by Coder after 30 minutes, a hung one after 5. */
const BUSY_BOUND_MS = 40 * 60_000;
const DELETING_BOUND_MS = 40 * 60_000;

export type Attempt =
  | { readonly gone: true; readonly detail: string }
  | { readonly gone: false; readonly reason: string; readonly detail: string };

/**
 * One attempt; `activeVersion` deletes with the template's active version instead of the last build's. `shows` is told before each
 * look what was seen last. Throws what a look throws that has no answer in its time.
 */
export async function deleteOnce(
  coderWorkspaceId: string,
  activeVersion: boolean,
  shows: (detail: string) => void,
): Promise<Attempt> {
  let seen: DeleteSight | null = null;
  let since = Date.now();
  for (;;) {
    shows(seen?.detail ?? 'asking Coder to delete it');
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
    // The look itself takes its time when nothing changed; this keeps one that does not from turning in a circle.
    if (seen !== null && seen.at === sight.at && seen.detail === sight.detail) await sleep(2_000);
    seen = sight;
  }
}
