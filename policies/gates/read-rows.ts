/** From what a verifier returned to the outcome of its run: exactly one row for each criterion, or no rows at all. */
import type { CriterionRow, RunOutcomeRecord } from '../../schemas/gate/run.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';

/**
 * A row for a criterion that the subject does not have, two rows for one, a criterion without a row, a pass without evidence:
 * the whole result is `malformed_output`. Picking the good rows out would let a verifier's text choose what counts.
 * @param truncated something required did not fit the context: unavailable, whatever the rows say
 */
export function runOutcomeOf(
  subject: SubjectManifest,
  rows: readonly CriterionRow[],
  truncated: boolean,
): RunOutcomeRecord {
  if (truncated) return { state: 'unavailable', reason: 'context_truncated' };
  const open = new Set(subject.criteria.items.map((item) => item.criterionId));
  const wellFormed = rows.every(
    (row) => open.delete(row.criterionId) && (row.status !== 'passed' || row.evidenceRefs.length > 0),
  );
  return wellFormed && open.size === 0
    ? { state: 'finished', rows }
    : { state: 'unavailable', reason: 'malformed_output' };
}
