/** Writes what a ticket has become: projection, pair head and one entry of the event ring, in one step of the store. */
import type { Assignment } from '../../schemas/harness-api.ts';
import type { PairHead } from '../../schemas/pair.ts';
import type { RecordedTransition, TicketRecord, TicketStore } from '../../schemas/ticket/activities.ts';
import type { TicketEvent } from '../../schemas/ticket/event.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import type { LifecycleDraft } from '../../schemas/workspace/lifecycle.ts';
import { shortened } from '../../schemas/text.ts';

export interface TicketDependencies {
  readonly tickets: TicketStore;
  readonly writeAssignment: (tenant: string, assignment: Assignment) => Promise<void>;
  readonly repositoriesDir: string;
}

/** Characters of an entry's detail. */
const DETAIL_LIMIT = 512;

/** Repeatable: a number that was written is not written again. @throws `store_unavailable` */
export async function recordTransition(
  { tickets }: Pick<TicketDependencies, 'tickets'>,
  { state, event, seq, title }: RecordedTransition,
): Promise<void> {
  const record: TicketRecord = { schema: 'portcullis/ticket-record/v1', seq, title, state };
  await tickets.writeTicket(state.tenant, { record, head: headOf(state), event: entryOf(state, event) });
}

/** What verifications of the pair are resolved against and superseded by. */
export function headOf({ pairId, head, base, execution }: TicketState): PairHead {
  return {
    schema: 'portcullis/pair-head/v1',
    pair: pairId,
    headSha: head,
    baseSha: base === head ? null : base,
    execution: execution.id,
    generation: execution.generation,
  };
}

/** A transition says where it led and why; a note says what it was. */
export function entryOf(state: TicketState, event: TicketEvent): LifecycleDraft {
  const newest = state.history.at(-1);
  const moved = newest?.version === state.revision && newest.at === event.at;
  const run = 'run' in event ? event.run : '';
  return {
    ticket: state.ticketId,
    role: null,
    workspace: '',
    generation: 0,
    phase: state.phase,
    outcome: event.type,
    detail: shortened(moved ? `${newest.from} → ${newest.to}: ${newest.detail}` : run || event.actor, DETAIL_LIMIT),
  };
}
