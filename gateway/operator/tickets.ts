/** Tickets as an operator sees and moves them. Reads come from the store's projection, which outlives Temporal's retention. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { findUnknownCheck } from '../../activities/ticket/admit.ts';
import type { GateReader } from '../../activities/store/gate-port.ts';
import type { TicketReader } from '../../activities/store/tickets.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { checkedName } from '../../schemas/names.ts';
import type {
  DecideGateRequest,
  DecideTicketRequest,
  GateDecidedAnswer,
  StartTicketRequest,
  TicketAnswerView,
  TicketDecidedAnswer,
  TicketListAnswer,
  TicketStartedAnswer,
} from '../../schemas/operator-api.ts';
import { ticketStartOptions } from '../../schemas/ticket/start.ts';
import { TICKET_WORKFLOW } from '../../schemas/ticket/workflow.ts';
import { ticketWorkflowId } from '../../schemas/workflow-ids.ts';
import type { Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { updateTicket } from '../ticket-updates.ts';
import { temporalFailure } from '../temporal.ts';

const START_DEADLINE_MS = 5_000;

/**
 * Starts the ticket's workflow, once: the same id again is answered `running`, or refused when that ticket has ended.
 * @throws `kill_switch`, `check_unknown`, `state_conflict` for a ticket that ended, `temporal_unavailable`, `store_unavailable`
 */
export async function startTicket(
  ctx: GatewayContext,
  evidence: GateReader,
  by: Principal,
  { definition, source }: StartTicketRequest,
): Promise<TicketStartedAnswer> {
  const { tenant } = by;
  const ticket = definition.id;
  const killed = await ctx.reader.readKillSwitch(tenant);
  if (killed !== null) throw portcullisError('kill_switch', { reason: killed.reason });
  const unknown = await findUnknownCheck({ evidence }, tenant, definition.checks);
  if (unknown !== null) throw portcullisError('check_unknown', { ...unknown });
  const workflowId = ticketWorkflowId({ tenant, ticket });
  const options = ticketStartOptions({ tenant, definition, source, by: by.id });
  const answer = { schema: 'portcullis/ticket-started/v1', ticket, workflowId } as const;
  try {
    await ctx.temporal.withDeadline(Date.now() + START_DEADLINE_MS, () =>
      ctx.temporal.workflow.start(TICKET_WORKFLOW, options),
    );
    return { ...answer, outcome: 'started' };
  } catch (thrown) {
    if (!(thrown instanceof WorkflowExecutionAlreadyStartedError)) throw temporalFailure(thrown);
    const { status } = await ctx.temporal.workflow.getHandle(workflowId).describe();
    if (status.name === 'RUNNING') return { ...answer, outcome: 'running' };
    throw portcullisError('state_conflict', { what: `The ticket ${ticket}, which has ended,` });
  }
}

export async function listTickets(tickets: TicketReader, tenant: string, limit: number): Promise<TicketListAnswer> {
  return { schema: 'portcullis/ticket-list/v1', items: await tickets.listTickets(tenant, limit) };
}

/** @throws `not_found` */
export async function showTicket(tickets: TicketReader, tenant: string, ticket: string): Promise<TicketAnswerView> {
  const record = await tickets.readTicket(tenant, checkedName('ticket', ticket));
  if (record === null) throw portcullisError('not_found', { what: 'ticket', id: ticket });
  return { schema: 'portcullis/ticket-view/v1', ticket: record };
}

/** @throws `kill_switch` (of what goes on), `ticket_stale`, `ticket_phase`, `ticket_ended`, `not_found`, `temporal_unavailable` */
export async function decideTicket(
  ctx: GatewayContext,
  by: Principal,
  ticket: string,
  { decision, reason, revision }: DecideTicketRequest,
): Promise<TicketDecidedAnswer> {
  const of = { tenant: by.tenant, ticket: checkedName('ticket', ticket) };
  if (decision !== 'abandon') {
    const killed = await ctx.reader.readKillSwitch(by.tenant);
    if (killed !== null) throw portcullisError('kill_switch', { reason: killed.reason });
  }
  const taken = await updateTicket(ctx, of, 'decide', { decision, reason, revision, by: by.id });
  return { schema: 'portcullis/ticket-decided/v1', ticket, revision: taken.revision, phase: taken.phase };
}

/**
 * Makes the caller's decision on what the gate judges a record of its evidence. It moves nothing: the next evaluation reads it.
 * @throws `ticket_stale`, `ticket_mismatch` (another subject or gate), `override_refused`, `schema_invalid`, `not_allowed`,
 *   `ticket_ended`, `submission_unavailable`, `not_found`, `temporal_unavailable`
 */
export async function decideGate(
  ctx: GatewayContext,
  by: Principal,
  ticket: string,
  request: DecideGateRequest,
): Promise<GateDecidedAnswer> {
  const of = { tenant: by.tenant, ticket: checkedName('ticket', ticket) };
  const { revision, phase } = await updateTicket(ctx, of, 'decideGate', { ...request, by: by.id });
  return { schema: 'portcullis/gate-decided/v1', ticket, revision, phase };
}
