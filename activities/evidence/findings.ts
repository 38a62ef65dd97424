/** Findings and what runs say of earlier ones. Which findings may block is decided here, whatever their reviewer asked for. */
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { DispositionsRecord, FindingsRecord, Recorded, RecordedFindings } from '../../schemas/gate/activities.ts';
import type { DispositionRecord, Finding, LineRange } from '../../schemas/gate/finding.ts';
import { standingOf } from '../../policies/gates/finding-standing.ts';
import { addToSubject } from './add.ts';
import type { EvidenceDependencies } from './dependencies.ts';
import { knownSubject } from './subjects.ts';

/** @throws `schema_invalid`, `state_conflict` for an id and version that is there with other content */
export async function recordFindings(needs: EvidenceDependencies, record: FindingsRecord): Promise<RecordedFindings> {
  const { tenant, subjectDigest, runId, changedLines, observedAt } = record;
  const known = await knownSubject(needs.evidence, record);
  const isChanged = (range: LineRange) =>
    changedLines.some(
      (lines) => lines.path === range.path && lines.fromLine <= range.toLine && lines.toLine >= range.fromLine,
    );
  const findings: RecordedFindings['findings'][number][] = [];
  for (const filed of record.findings) {
    const standing = standingOf(filed, known.subject, isChanged);
    const finding: Finding = {
      ...filed,
      schema: 'portcullis/finding/v1',
      tenant,
      subjectDigest,
      runId,
      standing,
      observedAt,
    };
    const name = `finding/${filed.findingId}/${filed.version}`;
    const given = { tenant, subjectDigest, known, record: finding, name, event: 'finding_recorded' } as const;
    findings.push({ ...(await addToSubject(needs, given)), findingId: filed.findingId, standing });
  }
  return { findings };
}

/** @throws `schema_invalid` for a disposition of what is no prior blocker of the subject */
export async function recordDispositions(
  needs: EvidenceDependencies,
  { tenant, subjectDigest, runId, dispositions, observedAt }: DispositionsRecord,
): Promise<readonly Recorded[]> {
  const known = await knownSubject(needs.evidence, { tenant, subjectDigest });
  const { priorBlockers } = known.subject;
  const stranger = dispositions.find((said) => !priorBlockers.some((prior) => prior.findingId === said.findingId));
  if (stranger !== undefined) {
    const reason = `names ${stranger.findingId}, which is no prior blocker of this subject`;
    throw portcullisError('schema_invalid', { path: 'dispositions', reason });
  }
  const recorded: Recorded[] = [];
  for (const { findingId, digest: findingDigest } of priorBlockers) {
    // One that the run did not mention stays open, and that is on record.
    const said = dispositions.find((one) => one.findingId === findingId) ?? NOT_MENTIONED;
    const record: DispositionRecord = {
      schema: 'portcullis/disposition/v1',
      tenant,
      dispositionId: dispositionId(runId, findingId),
      findingId,
      findingDigest,
      onSubjectDigest: subjectDigest,
      runId,
      disposition: said.disposition,
      evidenceRefs: said.evidenceRefs,
      reasonCode: said.reasonCode,
      supersededBy: said.supersededBy,
      observedAt,
    };
    const name = `disposition/${record.dispositionId}`;
    recorded.push(
      await addToSubject(needs, { tenant, subjectDigest, known, record, name, event: 'disposition_recorded' }),
    );
  }
  return recorded;
}

const NOT_MENTIONED = {
  disposition: 'not_addressed',
  evidenceRefs: [],
  reasonCode: 'not_mentioned',
  supersededBy: null,
} as const;

/** One for each run and blocker. */
function dispositionId(runId: string, findingId: string): string {
  return `d-${digestHex(contentDigest(new TextEncoder().encode(`${runId}\0${findingId}`))).slice(0, 32)}`;
}
