/** One run of a ticket: the state, the one way to change it, and how its changes are recorded and shown. */
import {
  CancellationScope,
  condition,
  proxyActivities,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { NOTHING_HEARD, type UpdateAllowance } from '../../policies/tickets/allowance.ts';
import { apply, type Applied } from '../../policies/tickets/apply.ts';
import { ticketPage } from '../../policies/tickets/summary.ts';
import { newTicket } from '../../policies/tickets/ticket.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import type { RecordedTransition, TicketActivities } from '../../schemas/ticket/activities.ts';
import type { TicketEvent } from '../../schemas/ticket/event.ts';
import { isTerminal } from '../../schemas/ticket/phase.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import type { KillSwitchNotice, TicketInput } from '../../schemas/ticket/workflow.ts';
import { RECORDING } from './options.ts';

/** Refused for good by the store's own reading; only an operator mends that, and then it goes on. */
const UNRECORDED_RETRY = '30s';

const { recordTransition } = proxyActivities<TicketActivities>(RECORDING);

export interface Session {
  readonly input: TicketInput;
  readonly workflowId: string;
  state: TicketState;
  /** `false` until the repository is there: before, nothing can be submitted. */
  open: boolean;
  /** Events recorded so far; numbers the writes of the projection. */
  seq: number;
  /** Settles when everything that happened is in the store. */
  recorded: Promise<void>;
  /** Updates that are being answered. */
  answering: number;
  /** What agents have used up of this run's updates. */
  spent: UpdateAllowance;
  /** Workspaces that are asked nothing any more: they end. */
  readonly ending: Set<string>;
  /** Workspaces that said their last word. */
  readonly gone: Set<string>;
  /** What an earlier workspace pushed to a branch and nobody submitted, by branch. */
  readonly former: Map<string, string>;
  /** The verification that an answer to a review goes to. */
  verification: string | null;
  /** The kill switch that was turned on while a landing was under way. */
  stopping: KillSwitchNotice | null;
  /** Whether the store lists it as open and the switch was read since it last began to work. */
  admitted: boolean;
  shown: string;
}

export function openSession(input: TicketInput): Session {
  const { carried, source, tenant, definition } = input;
  return {
    input,
    workflowId: workflowInfo().workflowId,
    state: carried?.state ?? newTicket({ tenant, definition, base: source.baseSha ?? '', at: Date.now() }),
    open: carried !== null,
    seq: carried?.seq ?? 0,
    recorded: Promise.resolve(),
    answering: 0,
    spent: NOTHING_HEARD,
    ending: new Set(),
    gone: new Set(),
    former: new Map(),
    verification: null,
    stopping: null,
    admitted: false,
    shown: '',
  };
}

/** Applies an event; what it changed is shown at once and recorded in order. A refused one changes nothing. */
export function happen(session: Session, event: TicketEvent): Applied {
  const applied = apply(session.state, event);
  if (!applied.ok) return applied;
  session.state = applied.state;
  session.seq += 1;
  const transition = { state: applied.state, event, seq: session.seq, title: session.input.definition.title };
  // A cancel must not lose what has already happened.
  session.recorded = session.recorded.then(() => CancellationScope.nonCancellable(() => record(transition)));
  show(session);
  return applied;
}

/** Until it is written: what readers see must not end before the ticket does. */
async function record(transition: RecordedTransition): Promise<void> {
  for (;;) {
    try {
      await recordTransition(transition);
      return;
    } catch {
      await sleep(UNRECORDED_RETRY);
    }
  }
}

/** The same, and it is in the store before anything follows from it. */
export async function commit(session: Session, event: TicketEvent): Promise<Applied> {
  const applied = happen(session, event);
  await session.recorded;
  return applied;
}

/** What an observation or a decision of the control plane itself carries. */
export function now(actor: string): { readonly at: number; readonly actor: string } {
  return { at: Date.now(), actor };
}

/** Waits until no update is being answered: what it will change has to be known first. */
export async function settled(session: Session): Promise<void> {
  await condition(() => session.answering === 0);
  await session.recorded;
}

/** Before each wait (invariant 16); an unchanged sight would only lengthen the history. */
export function show(session: Session): void {
  const { state, input } = session;
  const page = ticketPage(state, input.definition.title, Date.now());
  if (page === session.shown) return;
  session.shown = page;
  upsertSearchAttributes([
    { key: SEARCH_ATTRIBUTES.tenant, value: state.tenant },
    { key: SEARCH_ATTRIBUTES.ticketId, value: state.ticketId },
    { key: SEARCH_ATTRIBUTES.pairId, value: state.pairId },
    { key: SEARCH_ATTRIBUTES.phase, value: state.phase },
    { key: SEARCH_ATTRIBUTES.waitingOn, value: session.open ? state.waitingOn : 'repository' },
    { key: SEARCH_ATTRIBUTES.state, value: isTerminal(state.phase) ? 'closed' : 'open' },
  ]);
  setCurrentDetails(page);
}
