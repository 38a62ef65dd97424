/** What operators decide, and what stops a ticket from outside. */
import type { EventOf } from '../../schemas/ticket/event.ts';
import { isStopped, isWorkPhase, REVIEW_OF_GATE, type WorkPhase } from '../../schemas/ticket/phase.ts';
import type { TicketReview, TicketState } from '../../schemas/ticket/state.ts';
import { enter, moved, newExecution, refused, stop, withoutCandidate, type Change } from './outcome.ts';
import { standingPass } from './passes.ts';
import { landingUnderWay } from './position.ts';
import { withoutTested } from './rejected.ts';
import { FRESH_ATTEMPTS } from './ticket.ts';

export function onOperatorDecided(state: TicketState, event: EventOf<'operatorDecided'>): Change {
  const { decision, reason } = event;
  if (decision === 'abandon') return moved(end(state), `abandoned: ${reason}${unanswered(state)}`);
  const { resumePhase } = state;
  const landing = landingUnderWay(state);
  // A new execution begins with nothing of the old one, so what became of its landing has to be known first.
  if (decision === 'resume' && landing !== null) {
    return refused('merge_in_progress', { event: `${event.type} (${decision})`, candidate: landing.candidate });
  }
  // What is at work goes on by itself; only what has stopped can be told to.
  if (!isStopped(state.phase) || resumePhase === null) {
    return refused('ticket_phase', { event: `${event.type} (${decision})`, phase: state.phase });
  }
  const { evaluations } = state.attempts;
  const afresh: TicketState = {
    ...state,
    attempts: { ...FRESH_ATTEMPTS, evaluations },
    rejected: withoutTested(state),
  };
  const detail = `${decision}: ${reason}`;
  return decision === 'resume'
    ? moved(newExecution(afresh, resumePhase), detail)
    : moved(retry(afresh, resumePhase), detail);
}

/** Goes on where it stopped, in the same execution. */
function retry(state: TicketState, phase: WorkPhase): TicketState {
  // It may have landed already: read back before anything else.
  if (landingUnderWay(state) !== null) return enter(state, phase);
  if (phase === 'merging' && standingPass(state, 'merge') === null) {
    return enter({ ...state, candidate: null, pr: null, merge: null }, 'testing');
  }
  const { review, stop } = state;
  if (review === null || !(stop?.cause === 'gate_human_required' || review.people.length > 0)) {
    return enter(phase === 'building' && state.candidate !== null ? withoutCandidate(state) : state, phase);
  }
  const again = enter({ ...state, feedback: null }, REVIEW_OF_GATE[review.gate]);
  return again.review === null ? again : { ...again, review: evaluatedAgain(review, again.review) };
}

/** The gate evaluates the same subject again, with the person's record in its evidence. */
function evaluatedAgain(held: TicketReview, next: TicketReview): TicketReview {
  return { ...next, subjectDigest: held.subjectDigest, route: held.route, answer: held.answer };
}

export function onKillSwitchTurned(state: TicketState, event: EventOf<'killSwitchTurned'>): Change {
  return moved(
    stop(state, 'blocked', 'kill_switch', event.reason, resumeOf(state)),
    `the kill switch is on: ${event.reason}`,
  );
}

export function onRecoveryFailed(state: TicketState, event: EventOf<'recoveryFailed'>): Change {
  return moved(
    stop(state, 'awaiting_human', 'recovery_failed', event.reason, resumeOf(state)),
    `recovery failed: ${event.reason}`,
  );
}

export function onWaitExceeded(state: TicketState, event: EventOf<'waitExceeded'>): Change {
  const detail = `waited too long for ${event.waitingOn}`;
  return moved(stop(state, 'awaiting_human', 'wait_exceeded', event.waitingOn, resumeOf(state)), detail);
}

export function onCancelled(state: TicketState, event: EventOf<'cancelled'>): Change {
  return moved(end(state), `cancelled: ${event.reason}${unanswered(state)}`);
}

/** What is given up without an answer may be on its branch. */
function unanswered(state: TicketState): string {
  const landing = landingUnderWay(state);
  return landing === null ? '' : `; whether ${landing.candidate} landed is not known`;
}

/** What has landed stays landed: then only its documentation is given up. */
function end(state: TicketState): TicketState {
  const phase = state.merge?.state === 'landed' ? 'done' : 'abandoned';
  return { ...state, phase, review: null, stop: null, resumePhase: null };
}

function resumeOf({ phase, resumePhase }: TicketState): WorkPhase {
  return isWorkPhase(phase) ? phase : (resumePhase ?? 'planning');
}
