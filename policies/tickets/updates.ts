/** Which updates were applied, so that a repeat is answered like the first, also after continue-as-new. */
import { STATE_LIMITS, type TicketState, type TicketUpdateOutcome } from '../../schemas/ticket/state.ts';
import { isPassingOutcome } from '../../schemas/ticket/update-id.ts';
import { newest } from './outcome.ts';

export function appliedUpdate(state: TicketState, id: string): TicketUpdateOutcome | null {
  return state.appliedUpdates.find((update) => update.id === id)?.outcome ?? null;
}

/** Older ids fall off; what they were decided on is stale by then. What nobody could tell is no outcome to remember. */
export function withAppliedUpdate(state: TicketState, id: string, outcome: TicketUpdateOutcome): TicketState {
  if (isPassingOutcome(outcome)) return state;
  return {
    ...state,
    appliedUpdates: newest([...state.appliedUpdates, { id, outcome }], STATE_LIMITS.appliedUpdates),
  };
}
