/**
 * Work that was sent back, for as long as its plan or its segment is worked on: nothing loops on what has not changed, and no
 * second reviewer is found for it by another commit, or by one in between.
 */
import { STATE_LIMITS, type RejectedWork, type TicketState } from '../../schemas/ticket/state.ts';
import { newest } from './outcome.ts';
import type { SentBack } from './rework.ts';

export function wasRejected({ rejected }: TicketState, work: RejectedWork): boolean {
  return rejected.some((one) => isSame(one, work) && !isElsewhere(one, work));
}

/** Whether it hangs on the base if that is judged again: what failed was the candidate made of both. */
export function hangsOnBase({ rejected }: TicketState, work: Omit<RejectedWork, 'base'>): boolean {
  return rejected.some((one) => one.base !== null && isSame(one, { ...work, base: null }));
}

function isSame(one: RejectedWork, other: RejectedWork): boolean {
  return one.commit === other.commit || (one.content !== null && one.content === other.content);
}

function isElsewhere(one: RejectedWork, other: RejectedWork): boolean {
  return one.base !== null && other.base !== null && one.base !== other.base;
}

/**
 * The list with what is sent back now. A conflict says nothing against the contents: the way out may be another parent alone; what
 * a test or the continuous integration says, nothing against them on another base.
 */
export function withRejected(state: TicketState, { of, feedback }: Pick<SentBack, 'of' | 'feedback'>) {
  const judged = judgedWork(state, of === 'plan');
  const { from } = feedback;
  const base = from === 'test' || from === 'ci' ? (state.candidate?.base ?? null) : null;
  const work = from === 'conflict' ? { ...judged, content: null } : { ...judged, base };
  return newest([...state.rejected, work], STATE_LIMITS.rejected);
}

/** The list without what a gate now passes: a person may have overruled what sent it back. */
export function withoutAccepted(state: TicketState): readonly RejectedWork[] {
  const accepted = judgedWork(state, state.phase === 'plan_review');
  // Of the tests of a candidate only the gate says anything that has seen them.
  const isSeen = ({ base }: RejectedWork) => base === null || state.phase === 'review_ready';
  return state.rejected.filter((one) => !(isSeen(one) && isSame(one, accepted)));
}

/** The list without what tests alone say: an operator who sends the ticket on has them run once more. */
export function withoutTested({ rejected }: TicketState): readonly RejectedWork[] {
  return rejected.filter(({ base }) => base === null);
}

function judgedWork({ plan, head, tree }: TicketState, isPlan: boolean): RejectedWork {
  return isPlan && plan !== null
    ? { commit: plan.commit, content: plan.digest, base: null }
    : { commit: head, content: tree, base: null };
}
