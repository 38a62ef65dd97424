/** `docs/reference/tickets.md`: phases, events, waits and bounds, from the reducer's own tables. */
import { TICKET_BOUNDS, WAIT_BOUND_SECONDS } from '../../policies/tickets/bounds.ts';
import { EDGES } from '../../policies/tickets/table.ts';
import { SENTENCE_OF_STOP } from '../../policies/tickets/why.ts';
import { cell, markdownTable, page } from './markdown.ts';

export function ticketsPage(): string {
  const edges = Object.entries(EDGES).flatMap(([phase, row]) =>
    Object.entries(row).map(([event, targets]) => [code(phase), code(event), targets.map(code).join(', ')]),
  );
  const waits = Object.entries(WAIT_BOUND_SECONDS).map(([wait, seconds]) => [code(wait), duration(seconds)]);
  const bounds = Object.entries(TICKET_BOUNDS).map(([name, times]) => [code(name), times]);
  const stops = Object.entries(SENTENCE_OF_STOP).map(([cause, sentence]) => [code(cause), cell(sentence)]);
  return page(
    'Tickets',
    'What a ticket does is in [tickets](../concepts/tickets.md). These are the tables that the program reads.',
    [
      '## Waits\n\nWhat `WaitingOn` says, and after how long the wait is given up.',
      markdownTable(['Waits for', 'Given up after'], waits),
      '## Bounds\n\nHow often something is tried before a person looks.',
      markdownTable(['Of', 'Times'], bounds),
      '## Why it stopped\n\nThe cause that a `blocked` ticket, or one that awaits a person, carries.',
      markdownTable(['Cause', 'Sentence'], stops),
      '## Transitions\n\nWhat is not here is refused by name; nothing leaves `done` and `abandoned`.',
      markdownTable(['In', 'Event', 'Can lead to'], edges),
    ].join('\n\n'),
  );
}

function code(word: string): string {
  return `\`${word}\``;
}

function duration(seconds: number | null): string {
  if (seconds === null) return 'never';
  return seconds % 3600 === 0 ? `${seconds / 3600} h` : `${seconds / 60} min`;
}
