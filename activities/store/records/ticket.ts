/** The stored projection of a ticket. */
import { z } from 'zod';
import { TICKET_PHASES } from '../../../schemas/ticket/phase.ts';
import type { TicketRecord } from '../../../schemas/ticket/activities.ts';
import { count } from './fields.ts';

/**
 * The state is only ever written by the control worker, from the reducer's own value, and read for people: what readers and
 * lists rely on is checked, the rest is taken as it was written.
 */
const state = z.looseObject({ ticketId: z.string(), phase: z.enum(TICKET_PHASES), revision: count });

export const ticketRecord: z.ZodType<TicketRecord> = z
  .strictObject({
    schema: z.literal('portcullis/ticket-record/v1'),
    seq: count,
    title: z.string(),
    state: z.custom<TicketRecord['state']>((value) => state.safeParse(value).success),
  })
  .readonly();
