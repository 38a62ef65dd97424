/** What a review reported becomes records: its findings, and one disposition of the run for each prior blocker. */
import { filedDispositions, filedFindings, type ReportFacts } from '../../policies/verification/findings.ts';
import { parseContentDigest } from '../../schemas/digest.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';
import type { ReviewConclusion } from '../../schemas/verification/activities.ts';
import type { ReviewReport } from '../../schemas/verification/report.ts';
import { repositoryPath } from '../git/repository.ts';
import { citedLines } from './cited-lines.ts';
import type { VerificationDependencies } from './dependencies.ts';

export interface ReportedReview {
  readonly conclusion: ReviewConclusion;
  readonly subject: SubjectManifest;
  readonly report: ReviewReport;
}

export interface RecordedReport {
  /** Digests of the records. */
  readonly refs: readonly string[];
  /** Ids of the findings that block, which is for us to say. */
  readonly blocking: readonly string[];
}

/** Repeatable: ids and times come from the conclusion. @throws `repository_invalid`, `schema_invalid` */
export async function recordReport(
  needs: Pick<VerificationDependencies, 'repositoriesDir' | 'evidence'>,
  { conclusion, subject, report }: ReportedReview,
): Promise<RecordedReport> {
  const { opening, runId, checks, at: observedAt } = conclusion;
  const { parameters, subjectDigest } = opening;
  const { tenant, ticket, change } = parameters;
  const gitDir = repositoryPath(needs.repositoriesDir, tenant, ticket);
  const cited = await citedLines({ gitDir, resourceId: `repository:${ticket}`, ...change }, report);
  const facts: ReportFacts = {
    subject,
    subjectDigest,
    runId,
    checks: checks.map(({ checkId, evidence }) => ({ checkId, digest: parseContentDigest(evidence) })),
    ...cited,
  };
  const of = { tenant, subjectDigest, runId, observedAt };
  const { changedLines } = cited;
  const { findings } = await needs.evidence.recordFindings({
    ...of,
    findings: filedFindings(report, facts),
    changedLines,
  });
  const said = await needs.evidence.recordDispositions({ ...of, dispositions: filedDispositions(report, facts) });
  return {
    refs: [...findings, ...said].map(({ digest }) => digest),
    blocking: findings.flatMap(({ kind, findingId, standing }) =>
      kind === 'recorded' && standing === 'blocking' ? [findingId] : [],
    ),
  };
}
