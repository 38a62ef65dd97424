/** `finding list` and `finding show`: what reviewers found in a ticket, and what became of it. */
import { portcullisError } from '../../schemas/errors.ts';
import type { FiledFindingEntry } from '../../schemas/gate/evidence-api.ts';
import type { LineRange } from '../../schemas/gate/finding.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { table, type Output } from '../output.ts';
import { printable } from '../printable.ts';

/** @param adjacent those that are nobody's to mend here, instead of the others. @throws `not_found` */
export async function listFindings(context: CliContext, id: string, adjacent: boolean): Promise<number> {
  const { ticket, items, omitted } = await operatorClient(context).ticketFindings(id);
  const chosen = items.filter((entry) => isAdjacent(entry) === adjacent);
  context.output.result('FindingList', { ticket, items: chosen, omitted }, listText(chosen, omitted, context.output));
  return 0;
}

/** Every version of it, newest first. @throws `not_found` */
export async function showFinding(context: CliContext, ticket: string, findingId: string): Promise<number> {
  const { items } = await operatorClient(context).ticketFindings(ticket);
  const filed = items.filter((entry) => entry.findingId === findingId);
  if (filed.length === 0) throw portcullisError('not_found', { what: 'finding', id: findingId });
  context.output.result('Finding', { ticket, findingId, items: filed }, filed.map(findingText).join('\n\n'));
  return 0;
}

/** One that cannot be read is never hidden among those that concern nobody. */
function isAdjacent({ finding }: FiledFindingEntry): boolean {
  return finding?.standing === 'adjacent';
}

export function listText(items: readonly FiledFindingEntry[], omitted: number, output: Output): string {
  if (items.length === 0) return 'No findings.';
  const heading = ['finding', 'standing', 'severity', 'type', 'gate', 'where', 'became'];
  const rows = items.map((entry) => {
    const { findingId, finding, gate, problem } = entry;
    return finding === null
      ? [printable(findingId), problem ?? 'unreadable', '-', '-', gate, '-', becameOf(entry)]
      : [finding.findingId, finding.standing, finding.severity, finding.type, gate, whereOf(entry), becameOf(entry)];
  });
  return [
    table([heading.map((name) => output.style('dim', name)), ...rows]),
    ...(omitted > 0 ? [`and ${omitted} older ones`] : []),
  ].join('\n');
}

export function findingText(entry: FiledFindingEntry): string {
  const { findingId, digest, gate, finding, problem } = entry;
  if (finding === null) return `${printable(findingId)}  ${digest}\n${problem ?? 'unreadable'}`;
  const { version, type, severity, standing, causality, criterionId, runId, failureScenario, requiredFix } = finding;
  return [
    `${findingId}  version ${version}  ${digest}`,
    `${standing} ${severity}, ${type}, ${causality}; ${gate} gate, run ${printable(runId)}`,
    `where      ${whereOf(entry)}`,
    ...(criterionId === null ? [] : [`criterion  ${printable(criterionId)}`]),
    `breaks     ${printable(failureScenario)}`,
    `to mend    ${printable(requiredFix)}`,
    `became     ${becameOf(entry)}`,
  ].join('\n');
}

function whereOf({ finding }: FiledFindingEntry): string {
  const range: LineRange | null = finding?.location ?? finding?.changedRange ?? null;
  if (range === null) return '-';
  const { path, fromLine, toLine } = range;
  return `${printable(path)}:${fromLine}${toLine === fromLine ? '' : `-${toLine}`}`;
}

function becameOf({ answered, finding }: FiledFindingEntry): string {
  if (answered === null) return finding?.standing === 'blocking' ? 'open' : '-';
  return `${answered.disposition} (${printable(answered.reasonCode)})`;
}
