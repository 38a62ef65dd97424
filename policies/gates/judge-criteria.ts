/** Cases 3 to 7 for criteria: what the verification runs say of each required one. No voting, no newest-wins. */
import type { VerifierRule } from '../../schemas/gate/policy.ts';
import type { CriterionRow, VerificationRun } from '../../schemas/gate/run.ts';
import { SECURITY_CLASS } from '../../schemas/gate/vocabulary.ts';
import type { Hit } from './hit.ts';
import type { RequiredCriterion } from './requirements.ts';
import type { SortedEvidence } from './sort-evidence.ts';

/** Everything that was said of one criterion. Times are those of the newest run that said it. */
interface Said {
  failedAt: number | null;
  securityFailedAt: number | null;
  inconclusiveAt: number | null;
  notTestedAt: number | null;
  /** Passed by a run of a class that the policy names, on evidence of this subject. */
  supported: boolean;
  /** Passed, but not so. */
  unsupported: boolean;
}

export interface JudgedCriteria {
  readonly hits: readonly Hit[];
  /** Runs that judged at least one required criterion, for filling seats. */
  readonly judging: readonly VerificationRun[];
}

export function judgeCriteria(
  required: readonly RequiredCriterion[],
  classes: readonly VerifierRule[],
  evidence: SortedEvidence,
): JudgedCriteria {
  const said = new Map(required.map((criterion) => [criterion.criterionId, nothingSaid()]));
  const methods = new Map(required.map((criterion) => [criterion.criterionId, criterion.methods]));
  const named = new Set(classes.map((rule) => rule.class));
  const judging: VerificationRun[] = [];
  let unavailableAt: number | null = null;
  for (const run of evidence.runs) {
    if (run.outcome.state !== 'finished') {
      unavailableAt = Math.max(unavailableAt ?? 0, run.observedAt);
      continue;
    }
    let judged = false;
    for (const row of run.outcome.rows) {
      const about = said.get(row.criterionId);
      if (about === undefined) continue;
      const counts = named.has(run.verifier.class) && (methods.get(row.criterionId)?.has(row.method) ?? false);
      judged = note(row, run, counts && isSupported(row, evidence), about) || judged;
    }
    if (judged) judging.push(run);
  }
  return { hits: [...said].flatMap(([criterionId, about]) => hitsOf(criterionId, about, unavailableAt)), judging };
}

function nothingSaid(): Said {
  return {
    failedAt: null,
    securityFailedAt: null,
    inconclusiveAt: null,
    notTestedAt: null,
    supported: false,
    unsupported: false,
  };
}

/** Notes one row; true when it judges. A failed row counts whatever else is wrong with its run: deny unless evidence. */
function note(row: CriterionRow, run: VerificationRun, supported: boolean, about: Said): boolean {
  switch (row.status) {
    case 'failed':
      about.failedAt = Math.max(about.failedAt ?? 0, run.observedAt);
      if (run.verifier.class === SECURITY_CLASS) {
        about.securityFailedAt = Math.max(about.securityFailedAt ?? 0, run.observedAt);
      }
      return true;
    case 'inconclusive':
      about.inconclusiveAt = Math.max(about.inconclusiveAt ?? 0, run.observedAt);
      return true;
    case 'not_tested':
      about.notTestedAt = Math.max(about.notTestedAt ?? 0, run.observedAt);
      return false;
    case 'passed':
      if (supported) about.supported = true;
      else about.unsupported = true;
      return supported;
  }
}

function isSupported(row: CriterionRow, evidence: SortedEvidence): boolean {
  return row.evidenceRefs.length > 0 && row.evidenceRefs.every((ref) => evidence.citable.has(ref.digest));
}

function hitsOf(criterionId: string, about: Said, unavailableAt: number | null): readonly Hit[] {
  const hits: Hit[] = [];
  const hit = (code: Hit['code'], at: number): Hit => ({ code, ref: criterionId, at });
  if (about.failedAt !== null) {
    const failure = hit('criterion_failed', about.failedAt);
    hits.push(failure);
    if (about.supported) hits.push({ ...hit('criterion_contradicted', about.failedAt), about: failure });
  }
  if (about.securityFailedAt !== null) hits.push(hit('security_verifier_failed', about.securityFailedAt));
  if (about.inconclusiveAt !== null) hits.push(hit('criterion_inconclusive', about.inconclusiveAt));
  if (hits.length > 0 || about.supported) return hits;
  // Nobody judged it. Why nobody did says which case it is.
  if (about.notTestedAt !== null) return [hit('criterion_not_tested', about.notTestedAt)];
  if (unavailableAt !== null) return [hit('criterion_unavailable', unavailableAt)];
  return [hit(about.unsupported ? 'criterion_unsupported' : 'criterion_missing', 0)];
}
