/** Tells a ticket's workflow what an agent submitted. Authority was checked before; the workflow decides whether it fits. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { portcullisError } from '../schemas/errors.ts';
import type { TicketUpdateOutcome } from '../schemas/ticket/state.ts';
import { ticketUpdateId } from '../schemas/ticket/update-id.ts';
import { TICKET_UPDATES, type TicketUpdateArguments } from '../schemas/ticket/workflow.ts';
import { ticketWorkflowId } from '../schemas/workflow-ids.ts';
import type { GatewayContext } from './context.ts';
import { lostItsTask, temporalFailure } from './temporal.ts';

/** The handler of an update reads a blob or two; more than this and the caller asks again, which repeats nothing. */
const UPDATE_MS = 20_000;

/** Of an update whose task failed under it; each has the same id, so it is done once. */
const UPDATE_TRIES = 5;
const RETRY_MS = 100;

type UpdateName = keyof TicketUpdateArguments;

/** What the ticket answered to something it took. */
export type Taken = Extract<TicketUpdateOutcome, { readonly accepted: true }>;

/**
 * Sends the update and waits for what it came to. The same request has the same id, so a repeat is answered and not done
 * again. @throws what the ticket refuses with, `not_found` (no such ticket is open), `temporal_unavailable`
 */
export async function updateTicket<U extends UpdateName>(
  { temporal }: Pick<GatewayContext, 'temporal'>,
  ticket: { readonly tenant: string; readonly ticket: string },
  update: U,
  request: TicketUpdateArguments[U],
): Promise<Taken> {
  const handle = temporal.workflow.getHandle(ticketWorkflowId(ticket));
  const options = { args: [request] as [TicketUpdateArguments[U]], updateId: ticketUpdateId(update, request) };
  const send = async (tries: number): Promise<TicketUpdateOutcome> => {
    try {
      return await handle.executeUpdate<TicketUpdateOutcome, [TicketUpdateArguments[U]]>(
        TICKET_UPDATES[update],
        options,
      );
    } catch (thrown) {
      if (tries <= 1 || !lostItsTask(thrown)) throw updateFailure(thrown, ticket.ticket);
    }
    await delay(RETRY_MS);
    return await send(tries - 1);
  };
  const outcome = await temporal.withDeadline(Date.now() + UPDATE_MS, () => send(UPDATE_TRIES));
  if (outcome.accepted) return outcome;
  throw portcullisError(outcome.refusal.code, outcome.refusal.details);
}

function updateFailure(thrown: unknown, ticket: string): unknown {
  if (thrown instanceof WorkflowNotFoundError) return portcullisError('not_found', { what: 'open ticket', id: ticket });
  if (thrown instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
    return portcullisError('temporal_unavailable', { reason: 'the ticket did not answer in time' }, thrown);
  }
  // A validator refused it: the ticket has moved on.
  if (thrown instanceof WorkflowUpdateFailedError)
    return portcullisError('state_conflict', { what: 'The ticket' }, thrown);
  return temporalFailure(thrown);
}
