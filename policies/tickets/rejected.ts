/**
 * Work that was sent back, for as long as its plan or its segment is worked on: nothing loops on what has not changed, and no
 * second reviewer is found for it by another commit, or by one in between.
 */
import { STATE_LIMITS, type RejectedWork, type TicketState } from '../../schemas/ticket/state.ts';
import { newest } from './outcome.ts';
import type { SentBack } from './rework.ts';

export function wasRejected({ rejected }: TicketState, work: RejectedWork): boolean {
  return rejected.some((one) => isSame(one, work));
}

function isSame(one: RejectedWork, other: RejectedWork): boolean {
  return one.commit === other.commit || (one.content !== null && one.content === other.content);
}

/** The list with what is sent back now. A conflict says nothing against the contents: the way out may be another parent alone. */
export function withRejected(state: TicketState, { of, feedback }: Pick<SentBack, 'of' | 'feedback'>) {
  const judged = judgedWork(state, of === 'plan');
  const work = feedback.from === 'conflict' ? { ...judged, content: null } : judged;
  return newest([...state.rejected, work], STATE_LIMITS.rejected);
}

/** The list without what a gate now passes: a person may have overruled what sent it back. */
export function withoutAccepted(state: TicketState): readonly RejectedWork[] {
  const accepted = judgedWork(state, state.phase === 'plan_review');
  return state.rejected.filter((one) => !isSame(one, accepted));
}

function judgedWork({ plan, head, tree }: TicketState, isPlan: boolean): RejectedWork {
  return isPlan && plan !== null ? { commit: plan.commit, content: plan.digest } : { commit: head, content: tree };
}
