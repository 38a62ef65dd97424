/**
 * From what a reviewer reported to what is filed: ids, digests, times and the subject are ours; what it cites counts as far as it
 * is there. A name that is nobody's is dropped, and what rested on it rests on nothing.
 */
import { contentDigest, digestHex, type ContentDigest, type Digest } from '../../schemas/digest.ts';
import type { DispositionsRecord, FiledFinding, FindingsRecord } from '../../schemas/gate/activities.ts';
import type { LineRange } from '../../schemas/gate/finding.ts';
import type { EvidenceRef } from '../../schemas/gate/references.ts';
import { headOf, type SubjectManifest } from '../../schemas/gate/subject.ts';
import type {
  ReportedDisposition,
  ReportedFinding,
  ReportedLines,
  ReviewReport,
} from '../../schemas/verification/report.ts';

export interface ReportFacts {
  readonly subject: SubjectManifest;
  readonly subjectDigest: Digest<'subject'>;
  readonly runId: string;
  /** Checks that have an answer, with the digest of each. */
  readonly checks: readonly { readonly checkId: string; readonly digest: ContentDigest }[];
  /** The lines at the head, exactly as they are there; `null` for lines that are not. */
  readonly linesAt: (lines: ReportedLines) => LineRange | null;
  /** Lines of the head that the change touches. */
  readonly changedLines: FindingsRecord['changedLines'];
}

export function filedFindings({ findings }: ReviewReport, facts: ReportFacts): readonly FiledFinding[] {
  return findings.map((reported, index) => filed(reported, index, facts));
}

function filed(reported: ReportedFinding, index: number, facts: ReportFacts): FiledFinding {
  const { subject } = facts;
  const location = reported.location === undefined ? null : facts.linesAt(reported.location);
  const cause = reported.changed_range === undefined ? location : facts.linesAt(reported.changed_range);
  const criterion = subject.criteria.items.find(({ criterionId }) => criterionId === reported.criterion);
  const prior = subject.priorBlockers.find(({ findingId }) => findingId === reported.prior_finding);
  return {
    findingId: findingIdOf(facts, index),
    version: 1,
    criterionId: criterion?.criterionId ?? null,
    securityRequirementRevision:
      reported.security_requirement === true ? subject.risk.securityRequirementRevision : null,
    type: reported.type,
    severity: reported.severity,
    standing: reported.standing,
    causality: reported.causality,
    location,
    changedRange: cause !== null && isChanged(cause, facts) ? cause : null,
    failureScenario: reported.failure_scenario,
    requiredFix: reported.required_fix,
    evidenceRefs: evidenceOf(['diff'], facts),
    method: 'model',
    verifierRuntime: null,
    contextManifestDigest: null,
    confidence: reported.confidence ?? null,
    lineage: prior === undefined ? null : { priorFindingId: prior.findingId },
  };
}

/** Of the run and its place in the report: a retry files the same, and no reviewer chooses it. */
function findingIdOf({ subjectDigest, runId }: ReportFacts, index: number): string {
  const name = new TextEncoder().encode(`${subjectDigest}\0${runId}\0${index}`);
  return `f-${digestHex(contentDigest(name)).slice(0, 32)}`;
}

function isChanged(range: LineRange, { changedLines }: ReportFacts): boolean {
  return changedLines.some(
    ({ path, fromLine, toLine }) => path === range.path && fromLine <= range.toLine && toLine >= range.fromLine,
  );
}

/** Only of prior blockers of the subject; who is not named gets `not_addressed` where they are recorded. */
export function filedDispositions(
  { dispositions }: ReviewReport,
  facts: ReportFacts,
): DispositionsRecord['dispositions'] {
  const { priorBlockers } = facts.subject;
  return dispositions.flatMap((said) =>
    priorBlockers.some(({ findingId }) => findingId === said.finding) ? [answered(said, facts)] : [],
  );
}

function answered(
  { finding, disposition, evidence, reason }: ReportedDisposition,
  facts: ReportFacts,
): DispositionsRecord['dispositions'][number] {
  return {
    findingId: finding,
    disposition,
    evidenceRefs: evidenceOf(evidence ?? [], facts),
    reasonCode: reason,
    // The version that took the matter away is the one that was looked at, whatever the reviewer would call it.
    supersededBy: disposition === 'superseded_by_subject_change' ? headOf(facts.subject) : null,
  };
}

/** What a reviewer may cite, by its name: bytes that the subject pins, and the answers of its checks. */
function evidenceOf(names: readonly string[], { subject, checks }: ReportFacts): readonly EvidenceRef[] {
  const known = new Map<string, ContentDigest>([
    ...checks.map(({ checkId, digest }) => [checkId, digest] as const),
    ...subject.artifacts.map(({ artifactId, digest }) => [artifactId, digest] as const),
    ...(subject.change === null ? [] : [['diff', subject.change.diffDigest] as const]),
  ]);
  return names.flatMap((id) => {
    const digest = known.get(id);
    return digest === undefined ? [] : [{ id, digest }];
  });
}
