/** The gate's decision: the only thing that moves a reviewed phase. */
import type { EventOf } from '../../schemas/ticket/event.ts';
import { isReview, type ReviewPhase } from '../../schemas/ticket/phase.ts';
import { STATE_LIMITS, type TicketPass, type TicketReview, type TicketState } from '../../schemas/ticket/state.ts';
import { enter, mismatch, moved, newest, noted, refs, refused, stop, type Change, type Refused } from './outcome.ts';
import { withoutAccepted } from './rejected.ts';
import { sendBack } from './rework.ts';
import { shortened } from '../../schemas/text.ts';

export function onGateDecided(state: TicketState, event: EventOf<'gateDecided'>): Change {
  const { review, phase } = state;
  if (review === null || !isReview(phase) || review.route === null) {
    return refused('ticket_phase', { event: event.type, phase });
  }
  if (event.n !== review.n) return mismatch(event.type, 'evaluation', event.n, review.n);
  if (event.gate !== review.gate) return mismatch(event.type, 'gate', event.gate, review.gate);
  if (event.subjectDigest !== review.subjectDigest) {
    return mismatch(event.type, 'subject', event.subjectDigest, review.subjectDigest ?? 'none');
  }
  const decided: TicketState = {
    ...state,
    decisions: newest([...state.decisions, event.evaluationKey], STATE_LIMITS.ids),
    blockers: refs(event.blockers),
  };
  const [reason = event.decision] = event.reasons;
  switch (event.decision) {
    case 'pass':
      return review.route === 'proceed' || event.overruled
        ? moved(advance(decided, phase, passOf(decided, event)), `${event.gate} gate: pass`)
        : moved(
            held(stop(decided, 'awaiting_human', 'verdict_contradicts_gate', event.evaluationKey, phase), review),
            'the gate passes what the reviewer rejected',
          );
    case 'rework':
      return sendBack(decided, {
        of: event.gate,
        at: event.at,
        held: review,
        cause: reason,
        feedback: {
          from: 'gate',
          detail: shortened(event.reasons.join('; '), 1024),
          refs: [event.evaluationKey, ...refs(event.blockers)],
        },
      });
    case 'human_required':
      return moved(
        held(stop(decided, 'awaiting_human', 'gate_human_required', reason, phase), review),
        `${event.gate} gate: a person has to decide`,
      );
    case 'blocked':
      return moved(
        held(stop(decided, 'blocked', 'gate_blocked', reason, phase), review),
        `${event.gate} gate: cannot be judged (${reason})`,
      );
  }
}

/** What was verified stays verified: once a person's record is there, the same subject is evaluated again. */
function held(stopped: TicketState, review: TicketReview): TicketState {
  return { ...stopped, review };
}

/**
 * A person decided on exactly what is judged here. It moves nothing: what it comes to says the next evaluation.
 * @returns refusal for another subject or gate
 */
export function onPersonDecided(state: TicketState, event: EventOf<'personDecided'>): Change {
  const { review } = state;
  const other = otherSubject(state, event);
  if (review === null || other !== null)
    return other ?? refused('ticket_phase', { event: event.type, phase: state.phase });
  const people = review.people.filter((id) => id !== event.decisionId);
  return noted(
    { ...state, review: { ...review, people: newest([...people, event.decisionId], STATE_LIMITS.ids) } },
    `${event.decision} by ${event.actor}`,
  );
}

/** Why a person's decision is not about what the ticket stands at; `null` when it is. */
export function otherSubject(
  { review }: TicketState,
  { type, gate, subjectDigest }: Pick<EventOf<'personDecided'>, 'type' | 'gate' | 'subjectDigest'>,
): Refused | null {
  if (review === null || review.subjectDigest === null) return mismatch(type, 'subject', subjectDigest, 'none');
  if (gate !== review.gate) return mismatch(type, 'gate', gate, review.gate);
  return subjectDigest === review.subjectDigest ? null : mismatch(type, 'subject', subjectDigest, review.subjectDigest);
}

function passOf(state: TicketState, event: EventOf<'gateDecided'>): TicketPass {
  return {
    gate: event.gate,
    evaluationKey: event.evaluationKey,
    subjectDigest: event.subjectDigest,
    generation: state.execution.generation,
    planRevision: state.plan?.revision ?? 0,
    head: state.head,
    candidate: event.gate === 'merge' ? (state.candidate?.commit ?? null) : null,
  };
}

function advance(state: TicketState, phase: ReviewPhase, pass: TicketPass): TicketState {
  const passed: TicketState = {
    ...state,
    passes: newest([...state.passes, pass], STATE_LIMITS.ids),
    feedback: null,
    rejected: withoutAccepted(state),
  };
  switch (phase) {
    case 'plan_review':
      return enter(withFirstSegment(passed), 'building');
    case 'segment_review':
      return enter(withNextSegment(passed), 'building');
    case 'review_ready':
      return enter(passed, 'merging');
  }
}

function withFirstSegment(state: TicketState): TicketState {
  const of = state.plan?.segments ?? 1;
  return withRounds({ ...state, rejected: [] }, { n: 1, of, passed: 0, base: state.head });
}

function withNextSegment(state: TicketState): TicketState {
  const { segment } = state;
  if (segment === null) return state;
  const { n, of } = segment;
  return n < of
    ? withRounds({ ...state, rejected: [] }, { n: n + 1, of, passed: n, base: state.head })
    : withRounds(state, { ...segment, passed: of });
}

function withRounds(state: TicketState, segment: NonNullable<TicketState['segment']>): TicketState {
  return {
    ...state,
    segment,
    attempts: { ...state.attempts, rounds: { ...state.attempts.rounds, segment: 0 } },
  };
}
