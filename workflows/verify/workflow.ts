/**
 * `verify`: one command on one pinned commit, run by the pair's executor and persisted (spec/delegated-verification.md).
 *
 * The workflow serialises and remembers where it is; the store's record is what counts. It owns no resource: a run is
 * bounded by its activity's time-outs, so no execution time-out is set.
 */
import {
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { statusOfOutcome, verifyResult, type RunEnd } from '../../policies/verify/result.ts';
import type { Seat } from '../../schemas/queues.ts';
import type {
  ExecutorActivities,
  PreparedRun,
  RunEnding,
  VerifyActivities,
  VerifyLocalActivities,
} from '../../schemas/verify/activities.ts';
import type { VerifyInput, VerifyOutcome } from '../../schemas/verify/workflow.ts';
import { endOfFailure, endOfPreparation } from './failure.ts';
import { LOCAL_RETRY, PERSIST_BRIEFLY, PERSIST_UNTIL_KEPT, runOptions } from './options.ts';
import { progressDisplay, type Show } from './progress.ts';
import { executorLostSignal, placeChangedSignal } from './signals.ts';
import { awaitTurn } from './turn.ts';

const { prepareRun, currentHead } = proxyLocalActivities<VerifyLocalActivities>(LOCAL_RETRY);
const briefly = proxyActivities<VerifyActivities>(PERSIST_BRIEFLY);
const untilKept = proxyActivities<VerifyActivities>(PERSIST_UNTIL_KEPT);

export async function verify(input: VerifyInput): Promise<VerifyOutcome> {
  const run = setup(input);
  const attempt: Attempt = { prepared: null };
  const end = await runOnce(run, attempt).catch((thrown: unknown) => endOfPreparation(thrown));
  // Ending runs on a cancel too, or the claim and the place in line would stay for ever.
  const outcome = await CancellationScope.nonCancellable(() => conclude(run, attempt.prepared, end));
  if (outcome.status === 'cancelled') throw new CancelledFailure('the run was cancelled and nothing of it is left');
  return outcome;
}

interface Run extends VerifyInput {
  readonly seat: Seat;
  readonly workflowId: string;
  readonly show: Show;
  readonly nextOffset: () => number;
  readonly takeNudge: () => boolean;
  readonly isLost: () => boolean;
}

interface Attempt {
  prepared: PreparedRun | null;
}

function setup({ accepted, n }: VerifyInput): Run {
  const { request, workspaceGeneration } = accepted;
  let offset = 0;
  let nudged = false;
  let lost = false;
  setHandler(executorLostSignal, () => void (lost = true));
  setHandler(placeChangedSignal, () => void (nudged = true));
  return {
    accepted,
    n,
    seat: { tenant: request.tenant, pair: request.pair, role: request.executor, workspaceGeneration },
    workflowId: workflowInfo().workflowId,
    show: progressDisplay(`${request.argv.join(' ')} at ${request.subject.headSha.slice(0, 12)}`),
    nextOffset: () => (offset += 1),
    takeNudge: () => {
      const was = nudged;
      nudged = false;
      return was;
    },
    isLost: () => lost,
  };
}

async function runOnce(run: Run, attempt: Attempt): Promise<RunEnd> {
  run.show({ phase: 'accepted', waitingOn: 'control', detail: 'reading the pinned commit and signing the action' });
  attempt.prepared = await prepareRun(run.accepted);
  const { workflowId, seat, show, nextOffset, takeNudge } = run;
  const withoutTurn = await awaitTurn({ workflowId, seat, show, nextOffset, takeNudge, taskId: run.accepted.taskId });
  if (withoutTurn !== null) return withoutTurn;
  run.show({ phase: 'running', waitingOn: 'executor', detail: 'the command runs in its sandbox' });
  return await dispatch(run, attempt.prepared);
}

/** Runs the command once on the executor's own queue, and notices when the executor comes back without it. */
async function dispatch(run: Run, { signed }: PreparedRun): Promise<RunEnd> {
  const { request } = run.accepted;
  // Actions that were signed before there were preparations have none.
  const seconds = request.timeoutSecs + (signed.action.prepare?.timeoutSecs ?? 0);
  const executor = proxyActivities<ExecutorActivities>(runOptions(run.seat, seconds, request.argv.join(' ')));
  const finished = executor
    .runCommand(signed)
    .then(
      (report): RunEnd => ({ status: statusOfOutcome(report.outcome), report, reason: report.reason }),
      endOfFailure,
    );
  // Not cancelled with the run: a cancelled wait would win the race against the executor's own word.
  const lost = CancellationScope.nonCancellable(() => condition(run.isLost)).then((): RunEnd => ({
    status: 'executor_lost',
    report: null,
    reason: 'executor_restarted',
  }));
  return await Promise.race([finished, lost]);
}

async function conclude(run: Run, prepared: PreparedRun | null, end: RunEnd): Promise<VerifyOutcome> {
  run.show({
    phase: 'persisting',
    waitingOn: 'store',
    detail: `the run ended (${end.status}); its result is being persisted`,
  });
  const { accepted, n } = run;
  const current = await currentHead(accepted.request.tenant, accepted.request.pair);
  const result = verifyResult({ accepted, prepared, end, current, observedAt: Date.now() });
  await persist(run, { accepted, n, result, offset: run.nextOffset() });
  run.show({ phase: 'ended', waitingOn: 'nothing', detail: end.status });
  return { taskId: accepted.taskId, status: result.status, satisfied: result.satisfied };
}

async function persist(run: Run, ending: RunEnding): Promise<void> {
  try {
    await briefly.endRun(ending);
  } catch (thrown) {
    if (isCancellation(thrown)) throw thrown;
    run.show({
      phase: 'completed_unpersisted',
      waitingOn: 'store',
      detail: 'the run ended but the store does not keep its result yet; it satisfies nothing until then',
    });
    await untilKept.endRun(ending);
  }
}
