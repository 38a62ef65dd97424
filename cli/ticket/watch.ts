/** `ticket watch`: what happens to a ticket, as it happens, to its end or to where a person is needed. */
import { setTimeout as delay } from 'node:timers/promises';
import { why } from '../../policies/tickets/why.ts';
import type { TicketRecord } from '../../schemas/ticket/activities.ts';
import type { TicketPhase } from '../../schemas/ticket/phase.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { duration } from '../output.ts';
import { printable } from '../printable.ts';
import { phaseStyle } from './render.ts';

const LOOK_MS = 400;

/** @returns 0 done, 3 abandoned, 4 a person is needed, 5 blocked */
export async function watchTicket(context: CliContext, ticket: string): Promise<number> {
  const { output, signal } = context;
  const client = operatorClient(context);
  let seen = -1;
  let began: number | null = null;
  for (;;) {
    if (signal.aborted) throw portcullisError('interrupted');
    const record = await readable(() => client.getTicket(ticket).then((answer) => answer.ticket), seen < 0);
    if (record !== null && record.seq > seen) {
      began ??= record.state.history[0]?.at ?? Date.now();
      for (const entry of record.state.history) {
        if (entry.version <= seen) continue;
        const at = duration(entry.at - began);
        const text = `${at.padStart(7)}  ${output.style(phaseStyle(record.state.phase), entry.to.padEnd(15))} ${printable(entry.detail)} (${entry.actor})`;
        output.line('TicketEvent', { ticket, ...entry }, text);
        seen = Math.max(seen, entry.version);
      }
      const exit = exitOf(record.state.phase);
      if (exit !== null) return concluded(context, record, exit);
    }
    await delay(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

function concluded({ output }: CliContext, record: TicketRecord, exit: number): number {
  const { sentence, unblockedBy } = why(record.state, Date.now());
  if (exit !== 0) output.progress([sentence, ...unblockedBy.map((one) => `  - ${one}`)].join('\n'));
  return exit;
}

function exitOf(phase: TicketPhase): number | null {
  switch (phase) {
    case 'done':
      return 0;
    case 'abandoned':
      return 3;
    case 'awaiting_human':
      return 4;
    case 'blocked':
      return 5;
    default:
      return null;
  }
}

/** A ticket that was just started is not projected yet. */
async function readable(read: () => Promise<TicketRecord>, mayBeNew: boolean): Promise<TicketRecord | null> {
  try {
    return await read();
  } catch (thrown) {
    if (mayBeNew && thrown instanceof Error && 'code' in thrown && thrown.code === 'not_found') return null;
    throw thrown;
  }
}
