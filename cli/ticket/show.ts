/** `ticket list`, `show`, `why`, and an operator's decisions. */
import { why } from '../../policies/tickets/why.ts';
import type { OperatorDecision } from '../../schemas/ticket/event.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { duration, table } from '../output.ts';
import { phaseStyle, ticketText, whyText } from './render.ts';

export async function listTickets(context: CliContext, limit: number): Promise<number> {
  const { output } = context;
  const { items } = await operatorClient(context).listTickets({ limit });
  const now = Date.now();
  const rows = items.map(({ title, state }) => [
    state.ticketId,
    output.style(phaseStyle(state.phase), state.phase),
    state.waitingOn,
    duration(now - state.since),
    String(state.round),
    title,
  ]);
  const text =
    rows.length === 0 ? 'No tickets.' : table([['TICKET', 'PHASE', 'WAITS FOR', 'SINCE', 'ROUND', 'TITLE'], ...rows]);
  output.result('TicketList', { items }, text);
  return 0;
}

/** @throws `not_found` */
export async function showTicket(context: CliContext, id: string): Promise<number> {
  const { ticket } = await operatorClient(context).getTicket(id);
  context.output.result('Ticket', { ticket }, ticketText(ticket, context.output));
  return 0;
}

/** @throws `not_found` */
export async function explainTicket(context: CliContext, id: string): Promise<number> {
  const { ticket } = await operatorClient(context).getTicket(id);
  const of = why(ticket.state, Date.now());
  context.output.result('TicketWhy', { ...of }, whyText(of, context.output));
  return 0;
}

/** On the revision that is there now: whoever was faster is not overruled. @throws `ticket_stale`, `ticket_phase`, `ticket_ended` */
export async function decideTicket(
  context: CliContext,
  id: string,
  decision: OperatorDecision,
  reason: string,
): Promise<number> {
  const client = operatorClient(context);
  const { ticket } = await client.getTicket(id);
  const decided = await client.decideTicket(id, { decision, reason, revision: ticket.state.revision });
  const { revision, phase } = decided;
  context.output.result('TicketDecided', { ticket: id, decision, revision, phase }, `${id}: ${decision}, now ${phase}`);
  return 0;
}
