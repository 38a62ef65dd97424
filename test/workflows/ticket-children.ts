/** The real `ticket` with stand-ins for the workflows it starts: what they answer is scripted by activities of the test. */
import {
  CancellationScope,
  condition,
  defineSignal,
  getExternalWorkflowHandle,
  isCancellation,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { GateInput, GateOutcome } from '../../schemas/gate/workflow.ts';
import type { VerificationInput, VerificationOutcome } from '../../schemas/verification/workflow.ts';
import {
  WORKSPACE_SIGNALS,
  type WorkspaceEnded,
  type WorkspaceInput,
  type WorkspaceRelease,
} from '../../schemas/workspace/workflow.ts';

export { ticket } from '../../workflows/ticket/workflow.ts';

export interface ScriptActivities {
  /** `null`: it never becomes ready. */
  scriptWorkspace(input: WorkspaceInput): Promise<{ readonly coderWorkspaceId: string } | null>;
  workspaceIsGone(run: string, trigger: string): Promise<void>;
  /** `hang`: until it is cancelled. */
  scriptVerification(input: VerificationInput): Promise<VerificationOutcome | 'hang'>;
  scriptGate(input: GateInput): Promise<GateOutcome>;
}

const script = proxyActivities<ScriptActivities>({ startToCloseTimeout: '20s', retry: { maximumAttempts: 1 } });

export async function workspace(input: WorkspaceInput): Promise<WorkspaceEnded> {
  const { role, workspaceGeneration } = input;
  const { workflowId: run } = workflowInfo();
  let release: WorkspaceRelease | null = null;
  setHandler(defineSignal<[WorkspaceRelease]>(WORKSPACE_SIGNALS.release), (told) => void (release ??= told));
  // The test says that it was lost, as a watch would.
  setHandler(defineSignal('lose'), () => void (release ??= { trigger: 'failed', reason: 'not_running' }));
  const owner = getExternalWorkflowHandle(input.owner);
  const made = await script.scriptWorkspace(input);
  if (made === null) release = { trigger: 'failed', reason: 'start_error' };
  else {
    const ready = { run, role, workspaceGeneration, name: `${role}-1`, coderWorkspaceId: made.coderWorkspaceId };
    await owner.signal(WORKSPACE_SIGNALS.ready, ready);
  }
  await condition(() => release !== null).catch((thrown: unknown) => {
    if (!isCancellation(thrown)) throw thrown;
    release ??= { trigger: 'cancelled', reason: 'cancelled' };
  });
  // Like the real one, it tears down and tells its owner when it is cancelled too.
  return await CancellationScope.nonCancellable(async () => {
    const { trigger, reason } = release ?? { trigger: 'failed', reason: '' };
    await script.workspaceIsGone(run, trigger);
    const ended: WorkspaceEnded = {
      run,
      role,
      workspaceGeneration,
      trigger,
      became: made === null ? 'never_ready' : 'ended',
      fate: 'gone',
      reason,
    };
    await owner.signal(WORKSPACE_SIGNALS.ended, ended).catch(() => {});
    return ended;
  });
}

export async function verification(input: VerificationInput): Promise<VerificationOutcome> {
  const outcome = await script.scriptVerification(input);
  if (outcome !== 'hang') return outcome;
  try {
    await condition(() => false);
  } catch (thrown) {
    // Its own workspaces are torn down first: the ticket waits for that.
    await CancellationScope.nonCancellable(() => script.workspaceIsGone(workflowInfo().workflowId, 'cancelled'));
    if (!isCancellation(thrown)) throw thrown;
    throw thrown;
  }
  throw new Error('a wait without end ended');
}

export async function gate(input: GateInput): Promise<GateOutcome> {
  // Like the real one, whose evaluation fails by itself while it is cancelled.
  return await CancellationScope.nonCancellable(() => script.scriptGate(input));
}
