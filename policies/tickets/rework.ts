/** Sending work back to FORGE, within its bounds. */
import type { TicketGate, WorkPhase } from '../../schemas/ticket/phase.ts';
import { STATE_LIMITS, type TicketFeedback, type TicketReview, type TicketState } from '../../schemas/ticket/state.ts';
import { TICKET_BOUNDS } from './bounds.ts';
import { enter, moved, newest, stop, withoutCandidate, type Change } from './outcome.ts';
import { withRejected } from './rejected.ts';
import { shortened } from '../../schemas/text.ts';

export interface SentBack {
  /** What was judged: the plan, a segment, the merge candidate. */
  readonly of: TicketGate;
  readonly at: number;
  readonly cause: string;
  /** What the gate judged, when it was the gate: past a bound a person may overrule it, and it is evaluated again. */
  readonly held?: TicketReview;
  readonly feedback: TicketFeedback;
}

/** Back to the producer; past a bound, to a person, who finds the work prepared to be sent back. */
export function sendBack(state: TicketState, sent: SentBack): Change {
  const { rework, rounds } = state.attempts;
  const judged = withFeedback(state, sent);
  const back = sent.of === 'merge' ? withoutCandidate(judged) : { ...judged, candidate: null, pr: null, merge: null };
  // What was judged is kept for a person who overrules the gate.
  const kept = sent.held === undefined ? back : judged;
  const target: WorkPhase = sent.of === 'plan' ? 'planning' : 'building';
  const detail = `sent back: ${sent.cause}`;
  if (rework >= TICKET_BOUNDS.rework) {
    return moved(held(stop(kept, 'awaiting_human', 'rework_exhausted', sent.cause, target), sent), detail);
  }
  const attempts = { ...state.attempts, rework: rework + 1 };
  if (rounds[sent.of] + 1 >= TICKET_BOUNDS.rounds) {
    const stopped = stop({ ...kept, attempts }, 'awaiting_human', 'rounds_exhausted', sent.cause, target);
    return moved(held(stopped, sent), detail);
  }
  const next = { ...attempts, rounds: { ...rounds, [sent.of]: rounds[sent.of] + 1 } };
  return moved(enter({ ...back, attempts: next }, target), detail);
}

function held(stopped: TicketState, sent: SentBack): TicketState {
  return { ...stopped, review: sent.held ?? null };
}

function withFeedback(state: TicketState, sent: SentBack): TicketState {
  return {
    ...withRejection(state, sent.at, sent.cause, sent.feedback.refs),
    feedback: sent.feedback,
    rejected: withRejected(state, sent),
    review: null,
  };
}

/** Adds to the lineage that a person is shown. */
export function withRejection(state: TicketState, at: number, cause: string, refs: readonly string[]): TicketState {
  const { phase, round } = state;
  const entry = { at, phase, round, cause: shortened(cause, 256), refs: refs.slice(0, 16) };
  return { ...state, lineage: newest([...state.lineage, entry], STATE_LIMITS.lineage) };
}
