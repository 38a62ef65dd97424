/** How a ticket is printed for people. */
import type { TicketWhy } from '../../policies/tickets/why.ts';
import type { TicketRecord } from '../../schemas/ticket/activities.ts';
import type { TicketPhase } from '../../schemas/ticket/phase.ts';
import { duration, table, type Output, type Style } from '../output.ts';
import { printable } from '../printable.ts';

export function phaseStyle(phase: TicketPhase): Style {
  switch (phase) {
    case 'done':
      return 'good';
    case 'blocked':
    case 'awaiting_human':
      return 'warn';
    case 'abandoned':
      return 'bad';
    default:
      return 'strong';
  }
}

export function ticketText({ title, state }: TicketRecord, output: Output): string {
  const { segment, candidate, execution, workspaces, merge, pr } = state;
  const rows = [
    ['ticket', `${state.ticketId}: ${title}`],
    ['phase', output.style(phaseStyle(state.phase), state.phase)],
    ['waits for', state.waitingOn],
    ['branch', state.branch],
    ['execution', `${execution.id}, generation ${execution.generation}`],
    ['revision', String(state.revision)],
    ['round', String(state.round)],
    ...(segment === null ? [] : [['segment', `${segment.n} of ${segment.of}, ${segment.passed} passed`]]),
    ...(candidate === null ? [] : [['candidate', `${candidate.commit} on ${candidate.base}`]]),
    ...(pr === null ? [] : [['pull request', `${pr.url} (${pr.ci})`]]),
    ...(merge === null ? [] : [['merge', `${merge.state}, ${merge.candidate}`]]),
    ...workspaces.map(({ role, run, status }) => [`workspace`, `${role}, ${status}, ${run}`]),
  ];
  return table(rows);
}

export function whyText(of: TicketWhy, output: Output): string {
  const until = of.until === null ? 'without a limit' : `until ${new Date(of.until).toISOString()}`;
  const lines = [
    `${output.style('strong', of.ticket)} is in ${of.phase}, revision ${of.revision}, round ${of.round}, execution ${of.execution}.`,
    printable(of.sentence),
    `Since ${new Date(of.since).toISOString()} (${duration(of.waited)}), ${until}.`,
  ];
  if (of.unblockedBy.length > 0)
    lines.push('What would unblock it:', ...of.unblockedBy.map((one) => `  - ${printable(one)}`));
  if (of.lineage.length > 0) {
    lines.push('Sent back before:');
    for (const { phase, round, cause } of of.lineage) lines.push(`  - ${phase}, round ${round}: ${printable(cause)}`);
  }
  return lines.join('\n');
}
