/** A ticket in one line and on one page: static summary and current details of the stock Temporal UI. */
import type { TicketState } from '../../schemas/ticket/state.ts';
import { why } from './why.ts';

/** @example 'T-048 building 2/3 round 1' */
export function ticketLine(state: TicketState): string {
  const { ticketId, phase, segment, round } = state;
  const inSegments = phase === 'building' || phase === 'segment_review';
  const place = inSegments && segment !== null ? ` ${segment.n}/${segment.of}` : '';
  return `${ticketId} ${phase}${place} round ${round}`;
}

/** Markdown: what it waits for, the decisions, the workspaces, what happened last. */
export function ticketPage(state: TicketState, title: string, now: number): string {
  const { sentence, until, unblockedBy } = why(state, now);
  const lines = [
    `**${ticketLine(state)}**: ${inline(title)}`,
    '',
    sentence,
    '',
    `Waiting on: **${state.waitingOn}** since ${iso(state.since)}${until === null ? '' : `, until ${iso(until)}`}`,
    `Execution ${state.execution.generation}, revision ${state.revision}, head \`${state.head.slice(0, 12)}\``,
  ];
  if (unblockedBy.length > 0) lines.push('', ...unblockedBy.map((what) => `- ${what}`));
  if (state.passes.length > 0) {
    lines.push('', '| gate | passed | decision |', '|---|---|---|');
    for (const pass of state.passes) {
      lines.push(`| ${pass.gate} | \`${(pass.candidate ?? pass.head).slice(0, 12)}\` | \`${pass.evaluationKey}\` |`);
    }
  }
  if (state.workspaces.length > 0) {
    lines.push('', '| workspace | state |', '|---|---|');
    for (const { run, status } of state.workspaces) lines.push(`| ${run} | ${status} |`);
  }
  const last = state.history
    .slice(-5)
    .map((entry) => `- ${iso(entry.at)} ${entry.from} → ${entry.to}: ${inline(entry.detail)}`);
  if (last.length > 0) lines.push('', ...last);
  return lines.join('\n');
}

const iso = (at: number): string => new Date(at).toISOString().slice(0, 19) + 'Z';

/** Titles and reasons come from outside: on one line, and without Markdown of their own. */
function inline(text: string): string {
  return text.replace(/[\r\n]+/g, ' ').replace(/[\\`*_[\]<>|#]/g, (mark) => `\\${mark}`);
}
