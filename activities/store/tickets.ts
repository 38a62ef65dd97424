/** Tickets in the store: the projection that lists and readers see, with the pair's head and the event beside it. */
import { keysOf } from '../../schemas/keys.ts';
import { isTerminal } from '../../schemas/ticket/phase.ts';
import type { TicketRecord, TicketStore } from '../../schemas/ticket/activities.ts';
import type { StoreConnection } from './connect.ts';
import { EVENT_RING_CAP } from './lifecycle-port.ts';
import { readOptional, recordText } from './records/read.ts';
import { ticketRecord } from './records/ticket.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';
import { WRITE_TICKET } from './scripts/ticket.ts';

const MAX_PAGE = 1_000;

/** Reads; every user may. */
export interface TicketReader {
  readTicket(tenant: string, ticket: string): Promise<TicketRecord | null>;
  /** Newest change first. */
  listTickets(tenant: string, limit: number): Promise<readonly TicketRecord[]>;
}

export function ticketReader(connection: StoreConnection): TicketReader {
  const readTicket = async (tenant: string, ticket: string) => {
    const text = await connection.run((redis) => redis.hget(keysOf(tenant).ticketStatus(ticket), 'record'));
    return readOptional('ticket', ticketRecord, text);
  };
  return {
    readTicket,
    async listTickets(tenant, limit) {
      const most = Math.min(limit, MAX_PAGE);
      const ids = await connection.run((redis) =>
        redis.zrange(keysOf(tenant).tickets, '+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, most),
      );
      const records = await Promise.all(ids.map((id) => readTicket(tenant, id)));
      return records.filter((record) => record !== null);
    },
  };
}

/** Needs a connection of the user `control`. */
export function ticketStore(connection: StoreConnection): TicketStore {
  return {
    readTicket: (tenant, ticket) => ticketReader(connection).readTicket(tenant, ticket),
    async markOpen(tenant, ticket) {
      await connection.run((redis) => redis.sadd(keysOf(tenant).openTickets, ticket));
    },
    async forgetOpen(tenant, ticket) {
      await connection.run((redis) => redis.srem(keysOf(tenant).openTickets, ticket));
    },
    async listOpen(tenant) {
      const ids = await connection.run((redis) => redis.smembers(keysOf(tenant).openTickets));
      return ids.toSorted();
    },
    async writeTicket(tenant, { record, head, event }) {
      const keys = keysOf(tenant);
      const id = record.state.ticketId;
      const words = await runScript(
        connection,
        WRITE_TICKET,
        {
          ticket: keys.ticketStatus(id),
          index: keys.tickets,
          open: keys.openTickets,
          head: keys.head(id),
          ring: keys.eventRing,
        },
        {
          id,
          seq: record.seq,
          isOpen: isTerminal(record.state.phase) ? '' : '1',
          recordText: recordText(record),
          headText: recordText(head),
          cap: EVENT_RING_CAP,
          event: recordText(event),
        },
      );
      if (words[0] !== 'written' && words[0] !== 'repeated') unexpectedReply(words);
    },
  };
}
