/**
 * `verification`: evidence about one exact subject (spec/gate.md section 4). It decides nothing: what it records the gate reads
 * from the indexes, and what it returns only routes.
 *
 * It never continues as new and owns no resource that it does not release itself: its workspaces are owned by workflows of
 * their own, which notice when it is gone.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import type { EvidenceActivities } from '../../schemas/gate/activities.ts';
import type { VerificationActivities } from '../../schemas/verification/activities.ts';
import {
  MOST_HITS,
  VERIFICATION_SIGNALS,
  type TicketAnswer,
  type VerificationInput,
  type VerificationOutcome,
} from '../../schemas/verification/workflow.ts';
import { runChecks, type Checked } from './checks.ts';
import { RECORDING } from './options.ts';
import { reviews } from './review.ts';
import { openSeats, type Seats } from './seats.ts';
import { verificationSight, type Show } from './sight.ts';

/** Each reviewer answers once; more than there are seats is nobody's. */
const MOST_ANSWERS = 64;

const { requireArtifacts } = proxyActivities<VerificationActivities>(RECORDING);
const { preflightSubject } = proxyActivities<EvidenceActivities>(RECORDING);

export async function verification(input: VerificationInput): Promise<VerificationOutcome> {
  const { seats, show, answers } = setup(input);
  let outcome: VerificationOutcome;
  let runs: readonly string[];
  try {
    outcome = await within(input, () => unlessUnreadable(input, () => verify(input, seats, answers, show)));
  } finally {
    // On a cancel and on a failure too: nothing of it may outlive it.
    runs = await CancellationScope.nonCancellable(async () => {
      show('record', 'workspace', 'its workspaces are being torn down');
      return await seats.close();
    });
  }
  show('ended', 'nothing', outcome.outcome);
  return { ...outcome, runs };
}

function setup(input: VerificationInput): { seats: Seats; show: Show; answers: readonly TicketAnswer[] } {
  const answers: TicketAnswer[] = [];
  setHandler(defineSignal<[TicketAnswer]>(VERIFICATION_SIGNALS.answered), (answer) => {
    if (answers.length < MOST_ANSWERS) answers.push(answer);
  });
  const show = verificationSight(input);
  return { seats: openSeats(input.parameters, input.n), show, answers };
}

/** Ends the story when its time is over; a cancel from outside stays one. */
async function within(
  { timeoutSeconds }: VerificationInput,
  story: () => Promise<VerificationOutcome>,
): Promise<VerificationOutcome> {
  const scope = new CancellationScope({ cancellable: true, timeout: timeoutSeconds * 1000 });
  try {
    return await scope.run(story);
  } catch (thrown) {
    const cancelledFromOutside = CancellationScope.current().consideredCancelled;
    if (!isCancellation(thrown) || cancelledFromOutside) throw thrown;
    return { outcome: 'unavailable', reason: 'timeout', refs: [], checks: [], runs: [] };
  }
}

/**
 * A subject, a policy or a record that is not what its digest says is no fault of a workspace or an agent, and trying again mends
 * nothing: the gate is asked, which reads the same and refuses by name.
 */
async function unlessUnreadable(
  { scope }: VerificationInput,
  story: () => Promise<VerificationOutcome>,
): Promise<VerificationOutcome> {
  try {
    return await story();
  } catch (thrown) {
    if (scope !== 'review' || !isUnreadable(thrown)) throw thrown;
    return { outcome: 'checked', settled: true, refs: [], checks: [], runs: [] };
  }
}

function isUnreadable(thrown: unknown): boolean {
  return (
    thrown instanceof ActivityFailure &&
    thrown.cause instanceof ApplicationFailure &&
    thrown.cause.type === 'record_unreadable'
  );
}

async function verify(
  input: VerificationInput,
  seats: Seats,
  answers: readonly TicketAnswer[],
  show: Show,
): Promise<VerificationOutcome> {
  const { parameters, subjectDigest, scope } = input;
  show('admit', 'control', 'the plan and the change must be readable');
  const { missing } = await requireArtifacts(parameters);
  if (missing !== null) return { outcome: 'missing_artifact', path: missing, refs: [], checks: [], runs: [] };
  const checked = await runChecks(input, seats, show);
  const verified = { refs: refsOf(checked), checks: checked.outcomes, runs: [] };
  if (checked.stale) return { outcome: 'unavailable', reason: 'subject_superseded', ...verified };
  if (scope === 'checks') return { outcome: 'checked', ...verified };
  const { verifierNeeded, hits } = await preflightSubject({ tenant: parameters.tenant, subjectDigest });
  // The evidence decides already: no model is asked, and the gate says why.
  if (!verifierNeeded) return { outcome: 'checked', settled: true, hits: hits.slice(0, MOST_HITS), ...verified };
  const outcome = await reviews(input, checked, seats, answers, show);
  return { ...outcome, refs: [...verified.refs, ...outcome.refs] };
}

function refsOf({ answers }: Checked): readonly string[] {
  return answers.map(({ evidence }) => evidence);
}
