/**
 * `destroyStray`: a workspace of the service user that carries no run of ours is deleted. A chat can make one by itself, and nobody
 * would ever end it.
 */
import { CancellationScope, proxyActivities, proxyLocalActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type {
  DeleteSight,
  StrayInput,
  WorkspaceActivities,
  WorkspaceLocalActivities,
} from '../../schemas/workspace/activities.ts';
import { codeOfFailure } from './failure.ts';
import { lookOptions, STORE_RETRY } from './options.ts';
import { showStray } from './session.ts';

const LOOK_MS = 20_000;
const store = proxyLocalActivities<WorkspaceLocalActivities>(STORE_RETRY);
const { advanceDelete } = proxyActivities<WorkspaceActivities>(lookOptions(LOOK_MS));

const ATTEMPTS = 5;
const PAUSE_MS = 60_000;

/** `false` when it is still there: it is in `flow_recovery` then, and the reconciler comes again. */
export async function destroyStray(input: StrayInput): Promise<boolean> {
  return await CancellationScope.nonCancellable(() => destroy(input));
}

async function destroy({ tenant, coderWorkspaceId, name }: StrayInput): Promise<boolean> {
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
  await say('begun', 'it carries no run of ours');
  let reason = '';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    showStray(tenant, name, `attempt ${attempt} of ${ATTEMPTS} to delete it`);
    reason = await remove(coderWorkspaceId, attempt === ATTEMPTS);
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
    if (attempt < ATTEMPTS) await sleep(PAUSE_MS);
  }
  await say('failed', reason);
  return false;
}

/** Empty once it is gone, else why not. */
async function remove(coderWorkspaceId: string, activeVersion: boolean): Promise<string> {
  let seen: DeleteSight | null = null;
  try {
    for (;;) {
      const sight: DeleteSight = await advanceDelete({
        coderWorkspaceId,
        buildId: seen?.buildId ?? null,
        activeVersion,
        seen,
        forMs: LOOK_MS,
      });
      if (sight.at === 'gone') return '';
      if (sight.at === 'failed') return sight.reason;
      if (seen?.at === sight.at) await sleep(2_000);
      seen = sight;
    }
  } catch (thrown) {
    return codeOfFailure(thrown);
  }
}
