/** Tells a ticket's workflow what an agent submitted. Authority was checked before; the workflow decides whether it fits. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { isErrorCode, portcullisError, type PortcullisError } from '../schemas/errors.ts';
import type { TicketUpdateOutcome } from '../schemas/ticket/state.ts';
import { isPassingOutcome, repeatedUpdateId, ticketUpdateId } from '../schemas/ticket/update-id.ts';
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
  const args: [TicketUpdateArguments[U]] = [request];
  const send = async (updateId: string, tries: number): Promise<TicketUpdateOutcome> => {
    try {
      return await handle.executeUpdate<TicketUpdateOutcome, [TicketUpdateArguments[U]]>(TICKET_UPDATES[update], {
        args,
        updateId,
      });
    } catch (thrown) {
      if (tries <= 1 || !lostItsTask(thrown)) throw updateFailure(thrown, ticket.ticket);
    }
    await delay(RETRY_MS);
    return await send(updateId, tries - 1);
  };
  const id = ticketUpdateId(update, request);
  const outcome = await temporal.withDeadline(Date.now() + UPDATE_MS, async () => {
    const first = await send(id, UPDATE_TRIES);
    // Nobody could tell, now or when it was sent before: Temporal would answer the same for ever.
    return isPassingOutcome(first)
      ? await send(repeatedUpdateId(id, randomBytes(6).toString('hex')), UPDATE_TRIES)
      : first;
  });
  if (outcome.accepted) return outcome;
  throw portcullisError(outcome.refusal.code, outcome.refusal.details);
}

function updateFailure(thrown: unknown, ticket: string): unknown {
  if (thrown instanceof WorkflowNotFoundError) return portcullisError('not_found', { what: 'open ticket', id: ticket });
  if (thrown instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
    return portcullisError('temporal_unavailable', { reason: 'the ticket did not answer in time' }, thrown);
  }
  if (thrown instanceof WorkflowUpdateFailedError) return refusedBy(thrown);
  return temporalFailure(thrown);
}

/** What the ticket's validator refused with, by its own code. */
function refusedBy(thrown: WorkflowUpdateFailedError): PortcullisError {
  const { cause } = thrown;
  const code = cause instanceof ApplicationFailure ? (cause.type ?? '') : '';
  if (!isErrorCode(code)) return portcullisError('state_conflict', { what: 'The ticket' }, thrown);
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : null;
  const named = Object.entries(Object(details) as object).filter(
    (entry): entry is [string, string | number] => typeof entry[1] === 'string' || typeof entry[1] === 'number',
  );
  return portcullisError(code, Object.fromEntries(named), thrown);
}
