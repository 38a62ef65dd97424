/**
 * `destroyStray`: a workspace of the service user that belongs to no run of ours is deleted. A chat can make one by itself, and nobody
 * would ever end it.
 */
import { CancellationScope, proxyLocalActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { StrayInput, WorkspaceLocalActivities } from '../../schemas/workspace/activities.ts';
import { deleteOnce } from './delete.ts';
import { codeOfFailure } from './failure.ts';
import { STORE_RETRY } from './options.ts';
import { showStray } from './session.ts';

const store = proxyLocalActivities<WorkspaceLocalActivities>(STORE_RETRY);

const ATTEMPTS = 5;
const PAUSE_MS = 60_000;

/** `false` when it is still there: it is in `flow_recovery` then, and the reconciler comes again. */
export async function destroyStray(input: StrayInput): Promise<boolean> {
  return await CancellationScope.nonCancellable(() => destroy(input));
}

async function destroy(input: StrayInput): Promise<boolean> {
  const { tenant, name } = input;
  const { runId, workflowId } = workflowInfo();
  let n = 0;
  const say = (outcome: string, detail: string) =>
    store.recordWorkspace({
      tenant,
      source: runId,
      n: (n += 1),
      record: null,
      events: [
        {
          ticket: '',
          role: null,
          workspace: name,
          generation: 0,
          phase: 'teardown',
          outcome,
          trigger: 'orphaned',
          detail,
        },
      ],
    });
  await say('begun', 'it belongs to no run of ours');
  let reason = '';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const which = `attempt ${attempt} of ${ATTEMPTS} to delete it`;
    reason = await remove(input, attempt === ATTEMPTS, which);
    if (reason === '') {
      await store.closeRecovery(tenant, workflowId);
      await say('done', 'deleted, and Coder answers that it is gone');
      return true;
    }
    await store.openRecovery(tenant, {
      schema: 'portcullis/recovery/v1',
      run: workflowId,
      kind: 'stray',
      ticket: '',
      workspace: name,
      attempts: attempt,
      reason,
      openedAt: Date.now(),
    });
    if (attempt === ATTEMPTS) break;
    showStray(tenant, name, `${which} failed: ${reason}; tried again in ${PAUSE_MS / 1000} s`);
    await sleep(PAUSE_MS);
  }
  await say('failed', reason);
  return false;
}

/** Empty once it is gone, else why not. */
async function remove(
  { tenant, coderWorkspaceId, name }: StrayInput,
  activeVersion: boolean,
  which: string,
): Promise<string> {
  let shown = '';
  const shows = (detail: string) => {
    if (detail === shown) return;
    shown = detail;
    showStray(tenant, name, `${which}: ${detail}`);
  };
  try {
    const attempt = await deleteOnce(coderWorkspaceId, activeVersion, shows);
    return attempt.gone ? '' : attempt.reason;
  } catch (thrown) {
    return codeOfFailure(thrown);
  }
}
