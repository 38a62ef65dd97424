/** Reviews: the approval, the verdict's route, and what kept verification from answering. */
import type { EventOf } from '../../schemas/ticket/event.ts';
import { isReview } from '../../schemas/ticket/phase.ts';
import type { TicketReview, TicketState } from '../../schemas/ticket/state.ts';
import { TICKET_BOUNDS } from './bounds.ts';
import { mismatch, moved, noted, openEvaluation, refs, refused, stop, type Change } from './outcome.ts';
import { withRejection } from './rework.ts';

/** It was asked for once more by the verification itself. */
const UNREAD = 'the verdict could not be read, twice';

export function onReviewAnswered(state: TicketState, event: EventOf<'reviewAnswered'>): Change {
  const { review } = state;
  if (review === null || review.route !== null)
    return refused('ticket_phase', { event: event.type, phase: state.phase });
  if (event.n !== review.n) return mismatch(event.type, 'evaluation', event.n, review.n);
  const { answer, approvalId, reviewDigest } = event;
  // Another approval is of another session of the reviewer: which of them counts, the store said before it was used up.
  if (review.answer?.approvalId === approvalId) {
    const same = review.answer.reviewDigest === reviewDigest && review.answer.answer === answer;
    return same ? noted(state, 'answered again') : refused('approval_used');
  }
  const answered = { ...review, answer: { answer, approvalId, reviewDigest } };
  return noted({ ...state, review: answered }, `${answer} of evaluation ${event.n}`);
}

export function onReviewed(state: TicketState, event: EventOf<'reviewed'>): Change {
  const { review, phase } = state;
  if (review === null || !isReview(phase) || review.route !== null) {
    return refused('ticket_phase', { event: event.type, phase });
  }
  if (event.n !== review.n) return mismatch(event.type, 'evaluation', event.n, review.n);
  const { route, subjectDigest } = event;
  const why = event.failureClass ?? 'no class named';
  switch (route) {
    case 'proceed':
    case 'retry_producer': {
      const judged: TicketReview = { ...review, subjectDigest, route };
      return moved({ ...state, review: judged }, `verified, ${route}`);
    }
    case 'human': {
      // Kept for the person: what they put on record is evaluated with what the reviewer left open.
      const judged: TicketReview = { ...review, subjectDigest, route };
      if (event.unreadable === true) {
        const unread = stop(withBlocking(state, event), 'awaiting_human', 'unparseable_verdict', UNREAD, phase);
        return moved({ ...unread, review: judged }, UNREAD);
      }
      const listed = withRejection(withBlocking(state, event), event.at, `NEEDS_HUMAN: ${why}`, event.refs);
      const stopped = stop(listed, 'awaiting_human', 'reviewer_asked', why, phase);
      return moved({ ...stopped, review: judged }, 'the reviewer asks for a person');
    }
    case 'stop': {
      const listed = withRejection(withBlocking(state, event), event.at, `BLOCKED_UPSTREAM: ${why}`, event.refs);
      return moved(stop(listed, 'blocked', 'upstream', why, phase), 'the cause is outside the repository');
    }
  }
}

/** No gate is asked about it, so what the reviewer found is kept here for whoever judges next. */
function withBlocking(state: TicketState, { blocking = [] }: EventOf<'reviewed'>): TicketState {
  return { ...state, blockers: refs([...new Set([...state.blockers, ...blocking])]) };
}

export function onVerificationUnavailable(state: TicketState, event: EventOf<'verificationUnavailable'>): Change {
  const { review, phase } = state;
  if (review === null || !isReview(phase) || review.route !== null) {
    return refused('ticket_phase', { event: event.type, phase });
  }
  if (event.n !== review.n) return mismatch(event.type, 'evaluation', event.n, review.n);
  const failures = state.attempts.providerFailures + 1;
  const counted = { ...state, attempts: { ...state.attempts, providerFailures: failures } };
  const detail = `verification is unavailable: ${event.reason}`;
  if (failures >= TICKET_BOUNDS.providerFailures) {
    return moved(stop(counted, 'awaiting_human', 'provider_failed', event.reason, phase), detail);
  }
  return moved(openEvaluation(counted, phase), detail);
}

/** Never an approval, and nothing that trying again would mend (seeds/000). */
export function onArtifactMissing(state: TicketState, event: EventOf<'artifactMissing'>): Change {
  const resume = isReview(state.phase) ? state.phase : 'testing';
  return moved(stop(state, 'blocked', 'missing_artifact', event.path, resume), `missing: ${event.path}`);
}
