/** A ticket that takes everything and remembers it: what the gateway sends is looked at, not what a real one makes of it. */
import {
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import type { TicketUpdateOutcome } from '../../schemas/ticket/state.ts';
import { TICKET_UPDATES } from '../../schemas/ticket/workflow.ts';

export interface Taken {
  readonly update: string;
  readonly request: { readonly revision: number; readonly by: string };
}

export const takenQuery = defineQuery<readonly Taken[]>('taken');
export const endSignal = defineSignal('end');
/** Revisions below this are refused. */
export interface TicketPlay {
  readonly revision: number;
}

export async function ticket({ revision }: TicketPlay): Promise<void> {
  const taken: Taken[] = [];
  let over = false;
  for (const update of Object.values(TICKET_UPDATES)) {
    setHandler(
      defineUpdate<TicketUpdateOutcome, [Taken['request']]>(update),
      (request) => {
        if (request.revision < revision) {
          return {
            accepted: false,
            refusal: { code: 'ticket_stale', details: { revision: request.revision, current: revision } },
          };
        }
        taken.push({ update, request });
        return { accepted: true, revision: revision + 1, phase: 'plan_review' };
      },
      { validator: refuseUnrevised },
    );
  }
  setHandler(takenQuery, () => taken);
  setHandler(endSignal, () => {
    over = true;
  });
  await condition(() => over);
}

/** As a ticket refuses what its phase has no use for: before anything of it is in the history. */
function refuseUnrevised({ revision }: Taken['request']): void {
  if (revision > 0) return;
  throw ApplicationFailure.nonRetryable('refused', 'ticket_phase', { event: 'readySubmitted', phase: 'merging' });
}
