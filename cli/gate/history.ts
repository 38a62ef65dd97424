/** `gate history`: what was decided about a ticket or a subject, newest first. */
import type { GateHistoryAnswer, GateHistoryEntry } from '../../schemas/gate/operator-api.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { table, type Output } from '../output.ts';

/** @throws `not_found` */
export async function gateHistory(context: CliContext, id: string): Promise<number> {
  const answer = await operatorClient(context).gateHistory(id);
  const { items, omitted } = answer;
  context.output.result('GateHistory', { id, items, omitted }, historyText(answer, context.output));
  return 0;
}

export function historyText({ items, omitted }: GateHistoryAnswer, output: Output): string {
  const heading = ['decided', 'gate', 'execution', 'decision', 'now', 'first reason', 'evaluation'];
  const rows = [heading.map((name) => output.style('dim', name)), ...items.map(rowOf)];
  return [table(rows), ...(omitted > 0 ? [`and ${omitted} older ones`] : [])].join('\n');
}

function rowOf(entry: GateHistoryEntry): readonly string[] {
  const { asOf, gate, execution, decision, applicability, first, evaluationKey } = entry;
  return [
    asOf === null ? '-' : new Date(asOf).toISOString(),
    gate,
    execution === null ? '-' : `${execution.id}/${execution.generation}`,
    decision ?? (evaluationKey === null ? 'undecided' : 'unreadable'),
    applicability ?? '-',
    first === null ? '-' : `${first.code} ${first.ref}`,
    evaluationKey ?? entry.subjectDigest,
  ];
}
