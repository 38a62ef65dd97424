/** Which findings may stop a gate. Assigned by us when a finding is recorded, whatever its reviewer asked for. */
import type { Finding, LineRange } from '../../schemas/gate/finding.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';
import type { Standing } from '../../schemas/gate/vocabulary.ts';

/** What a reviewer filed, before it has a standing. */
export type FiledFinding = Pick<
  Finding,
  'causality' | 'changedRange' | 'criterionId' | 'securityRequirementRevision'
> & {
  /** What the reviewer asked for. */
  readonly standing: Standing;
};

/**
 * `blocking` needs a cause in this change, or a criterion or security requirement of this subject; anything else that asks to
 * block is `adjacent`: kept for triage, never handed to the producer. Advisory stays advisory.
 * @param isChanged whether these lines are part of the change
 */
export function standingOf(
  filed: FiledFinding,
  subject: SubjectManifest,
  isChanged: (range: LineRange) => boolean,
): Standing {
  if (filed.standing !== 'blocking') return filed.standing;
  if (filed.causality === 'pre_existing') return 'adjacent';
  const causedHere = filed.changedRange !== null && isChanged(filed.changedRange);
  const ofCriterion = subject.criteria.items.some((item) => item.criterionId === filed.criterionId);
  const ofRequirement = filed.securityRequirementRevision === subject.risk.securityRequirementRevision;
  return causedHere || ofCriterion || ofRequirement ? 'blocking' : 'adjacent';
}

/** What goes back to the producer: what blocks, and advice. Never what is adjacent. */
export function handOffOf(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter((finding) => finding.standing !== 'adjacent');
}
