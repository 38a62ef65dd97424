/**
 * Landing what was judged, the change and later its documentation. The intent is recorded first, with the authority that it was
 * recorded under; from then on a landing is heard out, and one that nobody could hear is read back before anything else.
 */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { standingPass } from '../../policies/tickets/passes.ts';
import { landingUnderWay } from '../../policies/tickets/position.ts';
import { WAIT_BOUND_SECONDS } from '../../policies/tickets/bounds.ts';
import { parseDigest } from '../../schemas/digest.ts';
import type { GitActivities, LandAnswer, Landing } from '../../schemas/git/activities.ts';
import type { TicketEvent } from '../../schemas/ticket/event.ts';
import type { LandingIntent } from '../../schemas/ticket/landing.ts';
import { ASKING, landingOptions } from './options.ts';
import { codeOf } from './failure.ts';
import { openIncident } from './incidents.ts';
import { commit, now, type Session } from './session.ts';

const { mayLand } = proxyActivities<GitActivities>(ASKING);

/** What the gate passed is about to be landed. */
export async function intendCandidate(session: Session): Promise<void> {
  const { revision, candidate } = session.state;
  const pass = standingPass(session.state, 'merge');
  if (candidate === null || pass === null) {
    await commit(session, { type: 'recoveryFailed', reason: 'no pass to land on', ...now('ticket') });
    return;
  }
  const { evaluationKey } = pass;
  const intent = await permitted(session, { candidate: candidate.commit, base: candidate.base, evaluationKey });
  const decided = { revision, ...now('vessel') };
  await commit(
    session,
    'refused' in intent
      ? { ...decided, type: 'landingRefused', reason: intent.refused }
      : { ...decided, type: 'mergeIntended', ...intent },
  );
}

/** The intent, with the epoch under which authority permits it; or what authority says against it. */
export async function permitted(
  session: Session,
  what: Omit<LandingIntent, 'epoch'>,
): Promise<LandingIntent | { readonly refused: string }> {
  const { authorises, reason, epoch } = await mayLand(landingOf(session, what));
  return authorises ? { ...what, epoch } : { refused: `authority: ${reason}` };
}

function landingOf(
  { state, input: { source, definition }, workflowId: holder }: Session,
  { candidate, base: expectedOld, evaluationKey }: Omit<LandingIntent, 'epoch'>,
): Landing {
  const { tenant, ticketId: pair } = state;
  return {
    ...{ tenant, pair, remote: source.remote, branch: definition.baseBranch, holder, expectedOld, candidate },
    evaluationKey: parseDigest('gate-evaluation', evaluationKey),
  };
}

/** Runs to its answer, a cancel of the ticket notwithstanding: half a landing is none of ours. */
export async function landIntended(session: Session): Promise<void> {
  const intent = landingUnderWay(session.state);
  if (intent === null) return;
  const answer = await landedAnswer(session, intent);
  // Opened before anything follows from it.
  const incident =
    answer.outcome === 'landed' && answer.incident
      ? await openIncident(session, { candidate: intent.candidate, cause: 'authority' })
      : null;
  await commit(session, cameOf(session, intent, { answer, incident }));
}

/** `unanswered`: it may have landed. */
type Answer = Exclude<LandAnswer, { outcome: 'busy' }> | { readonly outcome: 'unanswered'; readonly reason: string };

/** Asks until the branch is not somebody else's any more and can be read back, for as long as a landing may last. */
async function landedAnswer(session: Session, intent: LandingIntent): Promise<Answer> {
  const until = Date.now() + WAIT_BOUND_SECONDS.merge * 1000;
  for (let left = until - Date.now(); left > 0; left = until - Date.now()) {
    const { land } = proxyActivities<GitActivities>(landingOptions(left));
    try {
      const answer = await land({ ...landingOf(session, intent), epoch: intent.epoch });
      if (answer.outcome !== 'busy') return answer;
      await sleep(Math.min(30_000, Math.max(250, answer.retryAfterMs)));
    } catch (thrown) {
      return { outcome: 'unanswered', reason: codeOf(thrown) };
    }
  }
  return { outcome: 'unanswered', reason: 'somebody else keeps landing on the branch' };
}

function cameOf(
  { state: { phase, documentation, revision } }: Session,
  { candidate }: LandingIntent,
  { answer, incident }: { readonly answer: Answer; readonly incident: string | null },
): TicketEvent {
  const decided = { revision, ...now('vessel') };
  const ofDocumentation = phase === 'documenting' ? documentation : null;
  switch (answer.outcome) {
    case 'landed':
      return ofDocumentation === null
        ? { ...decided, type: 'landed', candidate, incident }
        : { ...decided, type: 'documentationLanded', commit: ofDocumentation.head, incident };
    case 'base_moved': {
      const base = answer.now ?? 'nowhere';
      return ofDocumentation === null
        ? { ...decided, type: 'baseMoved', base }
        : { ...decided, type: 'documentationFailed', reason: `the base moved to ${base}` };
    }
    case 'refused': {
      const reason = `${answer.by}: ${answer.reason}`;
      return ofDocumentation === null
        ? { ...decided, type: 'landingRefused', reason }
        : { ...decided, type: 'documentationFailed', reason };
    }
    case 'unanswered':
      return { ...decided, type: 'landingUnanswered', reason: answer.reason };
  }
}
