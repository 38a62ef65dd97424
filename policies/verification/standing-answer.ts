/**
 * Which earlier result of a check is its answer. Only one that judged: what timed out, was refused, tested nothing or came to no
 * verdict is run again, and stays in the index beside the new attempt, where the gate counts it (invariants 7 and 8).
 */
import type { EvidenceItem } from '../../schemas/gate/evidence-set.ts';
import type { PlannedCheck } from '../../schemas/verification/activities.ts';

/**
 * @param items what the index of the check lists, oldest first
 * @returns a failure, if there is one: it stays the answer whatever passed beside it; otherwise the newest pass, or `null`
 */
export function standingAnswer(items: readonly EvidenceItem[]): PlannedCheck['answer'] {
  const judged = items.flatMap(({ digest, record }) =>
    record?.schema === 'portcullis/check-result/v1' && (record.status === 'passed' || record.status === 'failed')
      ? [{ status: record.status, evidence: digest }]
      : [],
  );
  return judged.findLast(({ status }) => status === 'failed') ?? judged.at(-1) ?? null;
}
