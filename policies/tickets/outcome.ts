/** What a handler of the reducer answers, and the few ways in which they change a state. */
import type { TicketPhase, WorkPhase, StoppedPhase } from '../../schemas/ticket/phase.ts';
import { GATE_OF_REVIEW, isReview } from '../../schemas/ticket/phase.ts';
import {
  STATE_LIMITS,
  type RefusalCode,
  type StopCause,
  type TicketRefusal,
  type TicketState,
} from '../../schemas/ticket/state.ts';
import { shortened } from '../../schemas/text.ts';

/** `moved`: a transition, so the revision grows. `noted`: recorded beside it; what was decided on the revision still holds. */
export type Change =
  | { readonly kind: 'moved' | 'noted'; readonly state: TicketState; readonly detail: string }
  | { readonly kind: 'refused'; readonly refusal: TicketRefusal };

export type Refused = Extract<Change, { readonly kind: 'refused' }>;

export function moved(state: TicketState, detail: string): Change {
  return { kind: 'moved', state, detail };
}

export function noted(state: TicketState, detail: string): Change {
  return { kind: 'noted', state, detail };
}

export function refused(code: RefusalCode, details: TicketRefusal['details'] = {}): Refused {
  return { kind: 'refused', refusal: { code, details } };
}

/** @param what which part of the event is not the ticket's: `segment`, `evaluation`, `head` … */
export function mismatch(event: string, what: string, given: string | number, expected: string | number): Refused {
  return refused('ticket_mismatch', { event, what, given, expected });
}

/** Enters a phase; a review phase opens the next evaluation unless one is carried into it. */
export function enter(state: TicketState, phase: WorkPhase): TicketState {
  const entered: TicketState = { ...state, phase, stop: null, resumePhase: null };
  // A candidate that is tested again is another evaluation of it: numbers name workspaces and workflows, once.
  if (phase === 'testing' && state.candidate !== null) return nextEvaluation({ ...entered, review: null });
  if (!isReview(phase)) return { ...entered, review: null };
  return openEvaluation(entered, phase);
}

/** The next evaluation of a review phase: tokens and answers of the one before are dead. */
export function openEvaluation(state: TicketState, phase: keyof typeof GATE_OF_REVIEW): TicketState {
  const counted = nextEvaluation(state);
  const n = counted.attempts.evaluations;
  return {
    ...counted,
    review: { n, gate: GATE_OF_REVIEW[phase], subjectDigest: null, route: null, answer: null, people: [] },
  };
}

export function nextEvaluation(state: TicketState): TicketState {
  return { ...state, attempts: { ...state.attempts, evaluations: state.attempts.evaluations + 1 } };
}

/** Stops for an operator, who finds the reason and where it would go on. */
export function stop(
  state: TicketState,
  phase: StoppedPhase,
  cause: StopCause,
  detail: string,
  resumePhase: WorkPhase,
): TicketState {
  return { ...state, phase, review: null, stop: { cause, detail: shortened(detail, 512) }, resumePhase };
}

/** The candidate is dropped, and with it what said that every segment is good: the last one is built again. */
export function withoutCandidate(state: TicketState): TicketState {
  const { segment } = state;
  return {
    ...state,
    candidate: null,
    pr: null,
    merge: null,
    segment: segment === null ? null : { ...segment, passed: segment.of - 1 },
  };
}

/** A new execution at the last durable checkpoint: position and commits stay, no pass and no candidate does (invariant 4). */
export function newExecution(state: TicketState, phase: WorkPhase): TicketState {
  const generation = state.execution.generation + 1;
  const { segment } = state;
  return enter(
    {
      ...state,
      execution: { id: `e${generation}`, generation },
      passes: [],
      review: null,
      candidate: null,
      pr: null,
      documentation: state.documentation?.landed === true ? state.documentation : null,
      merge: state.merge?.state === 'landed' ? state.merge : null,
      // That all segments passed was said by passes of the execution before: the last is judged again.
      segment: segment === null ? null : { ...segment, passed: Math.min(segment.passed, segment.n - 1) },
    },
    checkpointOf(phase),
  );
}

/** A candidate belongs to its execution, so the phases that rest on one start again where it is made. */
function checkpointOf(phase: WorkPhase): WorkPhase {
  return phase === 'review_ready' || phase === 'merging' ? 'testing' : phase;
}

/** The newest members of a list that must not grow for ever. */
export function newest<T>(members: readonly T[], limit: number): readonly T[] {
  return members.length > limit ? members.slice(-limit) : members;
}

export function refs(ids: readonly string[]): readonly string[] {
  return ids.slice(0, STATE_LIMITS.ids);
}

export type { TicketPhase };
