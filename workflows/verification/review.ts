/**
 * The reviewers' part of a verification: one review for each verifier class that the policy requires, each with a fresh read-only
 * workspace, one turn, one re-ask, and what it appended.
 */
import { CancellationScope, condition, proxyActivities } from '@temporalio/workflow';
import { reaskPrompt, reviewPrompt } from '../../policies/verification/prompts.ts';
import { agreesContract } from '../../policies/verification/reviewers.ts';
import type {
  ConcludedReview,
  OpenedReview,
  PlannedReview,
  ReviewEnding,
  ReviewReading,
  VerificationActivities,
} from '../../schemas/verification/activities.ts';
import {
  REVIEW_SESSIONS,
  type TicketAnswer,
  type VerificationInput,
  type VerificationOutcome,
} from '../../schemas/verification/workflow.ts';
import type { AgentActivities, AgentAnswer } from '../../schemas/workspace/agent.ts';
import { recordContract, type Checked } from './checks.ts';
import { ABANDONING, agentTurns, RECORDING } from './options.ts';
import type { Acquired, Seats } from './seats.ts';
import type { Show } from './sight.ts';

const { planReviews, openReview, readReview, concludeReview } = proxyActivities<VerificationActivities>(RECORDING);
const { abandonReview } = proxyActivities<VerificationActivities>(ABANDONING);

const TURN_SECS = 900;
const STALL_SECS = 180;
/** The reviewer uses its approval before its turn ends; this is for the way from the gateway to here. */
const ANSWER_WAIT = '30 seconds';
/** The approval ends with the longest that a session may take. */
const APPROVAL_MS = (2 * TURN_SECS + 120) * 1000;

type Read = Extract<ReviewReading, { readonly found: true }>;
type Ready = Extract<Acquired, { readonly kind: 'ready' }>['ready'];
type Reviewed = Extract<VerificationOutcome, { readonly outcome: 'reviewed' | 'unavailable' }>;

/**
 * Asks the required reviewers one after another, as long as each approves. The first that does not has decided that this subject
 * cannot pass, so nobody else is asked about it; a seat that stays empty is no pass either.
 */
export async function reviews(
  input: VerificationInput,
  checked: Checked,
  seats: Seats,
  answers: readonly TicketAnswer[],
  show: Show,
): Promise<Reviewed> {
  const { parameters, subjectDigest } = input;
  const planned = await planReviews({ tenant: parameters.tenant, subjectDigest });
  const refs: string[] = [];
  let last = unavailable(checked, 'provider_error', []);
  for (const [index, asked] of planned.entries()) {
    last = await review({ ...input, asked, firstSession: index * REVIEW_SESSIONS + 1 }, checked, seats, answers, show);
    refs.push(...last.refs);
    if (last.outcome !== 'reviewed' || last.route !== 'proceed') break;
  }
  return { ...last, refs };
}

interface AskedReview extends VerificationInput {
  readonly asked: PlannedReview;
  /** Number of its first workspace among those of the verification. */
  readonly firstSession: number;
}

/** A session that fails is tried once more in a fresh workspace; what the ticket makes of two failures is its own bound. */
async function review(
  input: AskedReview,
  checked: Checked,
  seats: Seats,
  answers: readonly TicketAnswer[],
  show: Show,
): Promise<Reviewed> {
  const { parameters, subjectDigest, n, asked } = input;
  const who = asked.verifierClass === 'reviewer' ? 'reviewer' : `${asked.verifierClass} reviewer`;
  let last: Reviewed | null = null;
  for (let session = 0; session < REVIEW_SESSIONS; session += 1) {
    show('review', 'workspace', `a fresh read-only workspace for the ${who}`);
    const seat = await seats.acquire('sentinel', input.firstSession + session, `${who} of ${parameters.gate}`);
    if (seat.kind === 'ended') {
      last = unavailable(checked, 'provider_error', []);
      continue;
    }
    const { ready } = seat;
    const opening = {
      parameters,
      subjectDigest,
      n,
      review: asked,
      workspaceGeneration: ready.workspaceGeneration,
      expiresAt: Date.now() + APPROVAL_MS,
    };
    // Once it is asked for there may be an approval: whoever cancels meanwhile has it abandoned, and not forgotten.
    const opened = await CancellationScope.nonCancellable(() => openReview(opening));
    const { ending, concluded } = await orAbandoned(parameters, opened, async () => {
      show('review', 'agent', `the ${who} works on ${opened.name}`);
      const ending = await ask(input, ready, opened, answers);
      show('record', 'store', 'the review is committed and recorded');
      const runId = runIdOf(n, ready.workspaceGeneration, ending);
      const conclusion = { opening, opened, runId, ending, checks: checked.answers, at: Date.now() };
      return { ending, concluded: await concludeReview(conclusion) };
    });
    const { refs, blocking, stale } = concluded;
    // Only of a review that is concluded and counts: a contract without its review would be nobody's.
    if (!stale && ending.state === 'answered' && agreesContract(parameters, asked)) {
      await recordContract(input, { name: opened.name, digest: ending.reading.digest }, contractStatus(ending.reading));
    }
    await seats.release(ready.run, 'its review is over');
    if (stale) return unavailable(checked, 'subject_superseded', refs);
    if (ending.state === 'answered') return reviewed(checked, ending.reading, { refs, blocking });
    last = unavailable(checked, ending.reason, refs);
  }
  return last ?? unavailable(checked, 'provider_error', []);
}

/** A review that is cut short, by a cancel or its time, leaves no approval that could still be used, and no use that nobody entered. */
async function orAbandoned<T>(
  { tenant, ticket }: VerificationInput['parameters'],
  { approvalId }: OpenedReview,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    // Whoever opens the next one does it where the store is away for longer.
    const ended = CancellationScope.nonCancellable(() => abandonReview({ tenant, ticket, approvalId }));
    await ended.catch(() => {});
    throw thrown;
  }
}

/** The review itself is in the name of the run that recorded it. */
function runIdOf(n: number, generation: number, ending: ReviewEnding): string {
  const said = ending.state === 'answered' ? ending.reading.digest.slice('sha256:'.length) : 'unavailable';
  return `evaluation-${n}/generation-${generation}/${said}`;
}

async function ask(
  { parameters, asked }: AskedReview,
  ready: Ready,
  { name, approvalId, priorBlockers }: OpenedReview,
  answers: readonly TicketAnswer[],
): Promise<ReviewEnding> {
  const { tenant, ticket } = parameters;
  const turn = (number: number, prompt: string): Promise<AgentAnswer> =>
    proxyActivities<AgentActivities>(agentTurns(TURN_SECS)).agentTurn({
      tenant,
      run: ready.run,
      coderWorkspaceId: ready.coderWorkspaceId,
      turn: number,
      prompt,
      timeoutSecs: TURN_SECS,
      stallSecs: STALL_SECS,
    });
  const read = () => readReview({ tenant, ticket, workspaceGeneration: ready.workspaceGeneration, name });

  const first = await turn(1, reviewPrompt(parameters, { name, verifierClass: asked.verifierClass, priorBlockers }));
  if (first.outcome !== 'answered') return { state: 'unavailable', reason: reasonOf(first) };
  let reading = await read();
  const unread = reading.found ? reading.reask : null;
  if (!reading.found || unread !== null) {
    const second = await turn(2, reaskPrompt(name, unread));
    if (second.outcome !== 'answered') return { state: 'unavailable', reason: reasonOf(second) };
    reading = await read();
  }
  if (!reading.found) return { state: 'unavailable', reason: 'malformed_output' };
  if (reading.verdict !== 'UNPARSEABLE' && !(await answered(answers, approvalId, reading))) {
    // A verdict that nobody put their approval to is nobody's.
    return { state: 'unavailable', reason: 'timeout' };
  }
  return { state: 'answered', reading };
}

/** With the approval of this session: another's is for what another reviewer saw. */
async function answered(
  answers: readonly TicketAnswer[],
  approvalId: string,
  { digest, verdict }: Read,
): Promise<boolean> {
  const wanted = verdict === 'APPROVED' ? 'approve' : 'reject';
  return await condition(
    () =>
      answers.some(
        (given) => given.approvalId === approvalId && given.reviewDigest === digest && given.answer === wanted,
      ),
    ANSWER_WAIT,
  );
}

function reasonOf({ outcome }: AgentAnswer): 'provider_error' | 'timeout' {
  return outcome === 'timed_out' || outcome === 'stalled' ? 'timeout' : 'provider_error';
}

function contractStatus({ route }: Read): 'passed' | 'failed' | 'inconclusive' {
  if (route === 'proceed') return 'passed';
  return route === 'retry_producer' ? 'failed' : 'inconclusive';
}

function reviewed(
  checked: Checked,
  reading: Read,
  { refs, blocking }: Pick<ConcludedReview, 'refs' | 'blocking'>,
): Reviewed {
  return {
    outcome: 'reviewed',
    // It was asked again already: a second unreadable verdict is a person's, which no reviewer asked for.
    route: reading.route === 'reask' ? 'human' : reading.route,
    unreadable: reading.route === 'reask',
    failureClass: reading.failureClass,
    reviewDigest: reading.digest,
    blocking,
    refs,
    checks: checked.outcomes,
    runs: [],
  };
}

function unavailable(
  checked: Checked,
  reason: Extract<Reviewed, { readonly outcome: 'unavailable' }>['reason'],
  refs: readonly string[],
): Reviewed {
  return { outcome: 'unavailable', reason, refs, checks: checked.outcomes, runs: [] };
}
