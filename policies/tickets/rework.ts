/** Sending work back to FORGE, within its bounds. */
import type { TicketGate, WorkPhase } from '../../schemas/ticket/phase.ts';
import { STATE_LIMITS, type TicketFeedback, type TicketState } from '../../schemas/ticket/state.ts';
import { TICKET_BOUNDS } from './bounds.ts';
import { enter, moved, newest, stop, type Change } from './outcome.ts';

export interface SentBack {
  /** What was judged: the plan, a segment, the merge candidate. */
  readonly of: TicketGate;
  readonly at: number;
  readonly cause: string;
  readonly feedback: TicketFeedback;
}

/** Back to the producer; past a bound, to a person, who finds the work prepared to be sent back. */
export function sendBack(state: TicketState, sent: SentBack): Change {
  const { rework, rounds } = state.attempts;
  const back = prepared(state, sent);
  const target: WorkPhase = sent.of === 'plan' ? 'planning' : 'building';
  const detail = `sent back: ${sent.cause}`;
  if (rework >= TICKET_BOUNDS.rework) {
    return moved(stop(back, 'awaiting_human', 'rework_exhausted', sent.cause, target), detail);
  }
  const counted = { ...back, attempts: { ...back.attempts, rework: rework + 1 } };
  if (rounds[sent.of] + 1 >= TICKET_BOUNDS.rounds) {
    return moved(stop(counted, 'awaiting_human', 'rounds_exhausted', sent.cause, target), detail);
  }
  const next = { ...counted.attempts, rounds: { ...rounds, [sent.of]: rounds[sent.of] + 1 } };
  return moved(enter({ ...counted, attempts: next }, target), detail);
}

function prepared(state: TicketState, sent: SentBack): TicketState {
  const { segment } = state;
  return {
    ...withRejection(state, sent.at, sent.cause, sent.feedback.refs),
    feedback: sent.feedback,
    rejected: sent.of === 'plan' ? (state.plan?.commit ?? state.head) : state.head,
    candidate: null,
    pr: null,
    merge: null,
    review: null,
    // The last segment is built again when the candidate was not good.
    segment: segment === null || sent.of !== 'merge' ? segment : { ...segment, passed: segment.of - 1 },
  };
}

/** Adds to the lineage that a person is shown. */
export function withRejection(state: TicketState, at: number, cause: string, refs: readonly string[]): TicketState {
  const { phase, round } = state;
  const entry = { at, phase, round, cause: cause.slice(0, 256), refs: refs.slice(0, 16) };
  return { ...state, lineage: newest([...state.lineage, entry], STATE_LIMITS.lineage) };
}
