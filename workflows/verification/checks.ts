/** The deterministic part of a verification: what the control plane sees for itself, and the commands in a verifier's workspace. */
import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowCancellationType,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { EvidenceActivities } from '../../schemas/gate/activities.ts';
import type { CriterionStatus } from '../../schemas/gate/vocabulary.ts';
import type { PlannedCheck, VerificationActivities } from '../../schemas/verification/activities.ts';
import type { CheckOutcome, VerificationInput } from '../../schemas/verification/workflow.ts';
import { verifyStartSight } from '../../schemas/verify/start.ts';
import { GATEWAY_WORKFLOWS, type VerifyInput, type VerifyOutcome } from '../../schemas/verify/workflow.ts';
import { RECORDING, watchingTask } from './options.ts';
import type { Seats } from './seats.ts';
import type { Show } from './sight.ts';

const { openAttempt, recordCheck } = proxyActivities<EvidenceActivities>(RECORDING);
const { planChecks, observeBuiltin, admitCheck } = proxyActivities<VerificationActivities>(RECORDING);

/** The check that rests on the review itself: it is recorded after it. */
export const CONTRACT_CHECK = 'contract-agreed';

/** A verifier's workspace that never became ready is tried so many times. */
const VERIFIER_SESSIONS = 2;

export interface Checked {
  readonly outcomes: readonly CheckOutcome[];
  /** What rows of a review may rest on. */
  readonly answers: readonly {
    readonly checkId: string;
    readonly status: CriterionStatus;
    readonly evidence: string;
  }[];
  /** The execution or the subject moved on: everything that follows is history. */
  readonly stale: boolean;
}

type Verify = (input: VerifyInput) => Promise<VerifyOutcome>;
type Recorded = { readonly outcome: CheckOutcome; readonly evidence: string | null; readonly stale: boolean };

/** Runs what has no answer yet for this head and execution, each once. */
export async function runChecks(input: VerificationInput, seats: Seats, show: Show): Promise<Checked> {
  const { parameters, subjectDigest } = input;
  show('checks', 'control', 'reading which checks the subject names');
  const planned = await planChecks({ tenant: parameters.tenant, subjectDigest });
  const done: Recorded[] = [];
  for (const check of planned) {
    if (check.checkId === CONTRACT_CHECK) continue;
    if (check.answer !== null) done.push(known(check.checkId, check.answer));
    else if (check.definition.kind === 'builtin') done.push(await observe(input, check));
  }
  const commands = planned.filter(({ answer, definition }) => answer === null && definition.kind === 'command');
  if (commands.length > 0) done.push(...(await runCommands(input, commands, seats, show)));
  return {
    outcomes: done.map(({ outcome }) => outcome),
    answers: done.flatMap(({ outcome, evidence }) =>
      evidence === null ? [] : [{ checkId: outcome.check, status: statusOf(outcome.status), evidence }],
    ),
    stale: done.some(({ stale }) => stale),
  };
}

/** Records the check that the control plane answers from the review. */
export async function recordContract(
  input: VerificationInput,
  review: { readonly digest: `sha256:${string}`; readonly name: string },
  status: CriterionStatus,
): Promise<void> {
  const { parameters, subjectDigest } = input;
  const { tenant } = parameters;
  const planned = await planChecks({ tenant, subjectDigest });
  // Of each review: what an earlier one said of the same head is not this one's answer.
  if (!planned.some(({ checkId }) => checkId === CONTRACT_CHECK)) return;
  const opened = await openAttempt({
    tenant,
    subjectDigest,
    checkId: CONTRACT_CHECK,
    dispatch: dispatchOf('contract'),
  });
  if (opened.kind === 'stale') return;
  const refs = [{ id: review.name, digest: review.digest }];
  await recordCheck({
    tenant,
    subjectDigest,
    checkId: CONTRACT_CHECK,
    attempt: opened.attempt,
    outcome: { by: 'control', status, refs },
  });
}

async function observe({ parameters, subjectDigest }: VerificationInput, check: PlannedCheck): Promise<Recorded> {
  const { tenant } = parameters;
  const { checkId, definition } = check;
  const opened = await openAttempt({ tenant, subjectDigest, checkId, dispatch: dispatchOf(checkId) });
  if (opened.kind === 'stale') return moved(checkId);
  const name = definition.kind === 'builtin' ? definition.name : checkId;
  const { status, refs } = await observeBuiltin({ parameters, checkId, name });
  const recorded = await recordCheck({
    tenant,
    subjectDigest,
    checkId,
    attempt: opened.attempt,
    outcome: { by: 'control', status, refs },
  });
  return written(checkId, null, recorded);
}

async function runCommands(
  input: VerificationInput,
  checks: readonly PlannedCheck[],
  seats: Seats,
  show: Show,
): Promise<readonly Recorded[]> {
  for (let session = 1; session <= VERIFIER_SESSIONS; session += 1) {
    show('checks', 'workspace', `a fresh workspace for ${checks.map(({ checkId }) => checkId).join(', ')}`);
    const seat = await seats.acquire('verifier', session, `checks of ${input.parameters.gate}`);
    if (seat.kind === 'ended') continue;
    const done: Recorded[] = [];
    for (const check of checks) done.push(await runCommand(input, check, show));
    await seats.release(seat.ready.run, 'its checks have run');
    return done;
  }
  return await Promise.all(checks.map((check) => unanswered(input, check)));
}

async function runCommand(input: VerificationInput, check: PlannedCheck, show: Show): Promise<Recorded> {
  const { parameters, subjectDigest } = input;
  const { tenant } = parameters;
  const { checkId, definition } = check;
  const opened = await openAttempt({ tenant, subjectDigest, checkId, dispatch: dispatchOf(checkId) });
  if (opened.kind === 'stale') return moved(checkId);
  const { attempt } = opened;
  const askedBy = workflowInfo().workflowId;
  let taskId: string;
  try {
    const admitted = await admitCheck({ parameters, checkId, definition, attempt, askedBy });
    const command = definition.kind === 'command' ? definition.argv.join(' ') : checkId;
    show('checks', 'executor', `${command} runs in the verifier's workspace`);
    taskId = admitted.kind === 'joined' ? await joined(tenant, admitted.taskId, definition) : await started(admitted);
  } catch (thrown) {
    if (isCancellation(thrown) || !isRefusal(thrown)) throw thrown;
    return await closeUnanswered(input, checkId, attempt);
  }
  const recorded = await recordCheck({ tenant, subjectDigest, checkId, attempt, outcome: { by: 'verify', taskId } });
  return written(checkId, taskId, recorded);
}

/** As a child, so that a cancel reaches the command; somebody who found the claim first may have started it, which is as good. */
async function started(admitted: Extract<Awaited<ReturnType<typeof admitCheck>>, { readonly kind: 'run' }>) {
  const { accepted } = admitted.input;
  const { memo, searchAttributes, ...sight } = verifyStartSight(accepted);
  try {
    const outcome = await executeChild<Verify>(GATEWAY_WORKFLOWS.verify, {
      workflowId: admitted.workflowId,
      args: [admitted.input],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      ...sight,
      memo,
      typedSearchAttributes: searchAttributes,
    });
    return outcome.taskId;
  } catch (thrown) {
    if (!(thrown instanceof WorkflowExecutionAlreadyStartedError)) throw thrown;
    return await joinedTask(accepted.request.tenant, accepted.taskId, accepted.request.timeoutSecs);
  }
}

function joined(tenant: string, taskId: string, definition: PlannedCheck['definition']): Promise<string> {
  return joinedTask(tenant, taskId, definition.kind === 'command' ? definition.timeoutSecs : 0);
}

async function joinedTask(tenant: string, taskId: string, timeoutSecs: number): Promise<string> {
  await proxyActivities<VerificationActivities>(watchingTask(timeoutSecs)).awaitTask({ tenant, taskId });
  return taskId;
}

async function unanswered(input: VerificationInput, { checkId }: PlannedCheck): Promise<Recorded> {
  const { parameters, subjectDigest } = input;
  const { tenant } = parameters;
  const opened = await openAttempt({ tenant, subjectDigest, checkId, dispatch: dispatchOf(checkId) });
  return opened.kind === 'stale' ? moved(checkId) : await closeUnanswered(input, checkId, opened.attempt);
}

async function closeUnanswered(input: VerificationInput, checkId: string, attempt: number): Promise<Recorded> {
  const recorded = await recordCheck({
    tenant: input.parameters.tenant,
    subjectDigest: input.subjectDigest,
    checkId,
    attempt,
    outcome: { by: 'nobody', reason: 'executor_unavailable' },
  });
  return written(checkId, null, recorded);
}

/** One name for each dispatch of this run, so that a repeated step opens no second attempt. */
function dispatchOf(checkId: string): string {
  return `${workflowInfo().workflowId}#${checkId}`;
}

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof ActivityFailure && thrown.cause instanceof ApplicationFailure;
}

type RecordedCheck = Awaited<ReturnType<typeof recordCheck>>;

function written(check: string, taskId: string | null, recorded: RecordedCheck): Recorded {
  const stale = recorded.kind === 'stale';
  return { outcome: { check, status: wordOf(recorded.status), taskId }, evidence: recorded.digest, stale };
}

function known(check: string, { status, evidence }: NonNullable<PlannedCheck['answer']>): Recorded {
  return { outcome: { check, status: wordOf(status), taskId: null }, evidence, stale: false };
}

function moved(check: string): Recorded {
  return { outcome: { check, status: 'unanswered', taskId: null }, evidence: null, stale: true };
}

const WORDS = {
  passed: 'satisfied',
  failed: 'failed',
  inconclusive: 'unanswered',
  not_tested: 'not_tested',
} as const satisfies Record<CriterionStatus, CheckOutcome['status']>;

function wordOf(status: CriterionStatus): CheckOutcome['status'] {
  return WORDS[status];
}

function statusOf(word: CheckOutcome['status']): CriterionStatus {
  switch (word) {
    case 'satisfied':
      return 'passed';
    case 'failed':
      return 'failed';
    case 'unanswered':
      return 'inconclusive';
    case 'not_tested':
      return 'not_tested';
  }
}
