import { describe, expect, test } from 'vitest';
import { parseDigest, type ContentDigest } from '../../schemas/digest.ts';
import { isFindingId } from '../../schemas/gate/finding.ts';
import { headOf } from '../../schemas/gate/subject.ts';
import type { ReportedDisposition, ReportedFinding } from '../../schemas/verification/report.ts';
import { standingOf } from '../gates/finding-standing.ts';
import { segment } from '../../test/support/gate-hostile.ts';
import { filedDispositions, filedFindings, type ReportFacts } from './findings.ts';

const digest = (digit: string): ContentDigest => `sha256:${digit.repeat(64)}`;
const PRIOR = { findingId: `f-${'1'.repeat(32)}`, digest: parseDigest('finding', digest('1')) };
const { subject } = segment({ priorBlockers: [PRIOR] });

const FACTS: ReportFacts = {
  subject,
  subjectDigest: parseDigest('subject', digest('a')),
  runId: 'evaluation-1/generation-1/x',
  checks: [{ checkId: 'tests', digest: digest('c') }],
  linesAt: ({ path, from_line: fromLine, to_line: toLine }) =>
    toLine > 100 ? null : { resourceId: 'repository:T-1', path, fromLine, toLine, digest: digest('e') },
  changedLines: [{ path: 'src/a.js', fromLine: 10, toLine: 12 }],
};
const REPORTED: ReportedFinding = {
  ...({ type: 'correctness', severity: 'blocker', standing: 'blocking', causality: 'introduced' } as const),
  failure_scenario: 'It breaks.',
  required_fix: 'Mend it.',
};
const at = (from: number, to: number) => ({ path: 'src/a.js', from_line: from, to_line: to });

function one(change: Partial<ReportedFinding>) {
  const [finding] = filedFindings({ findings: [{ ...REPORTED, ...change }], dispositions: [] }, FACTS);
  if (finding === undefined) throw new Error('nothing was filed');
  const isChanged = () => true;
  return { ...finding, gets: standingOf(finding, subject, isChanged) };
}

describe('a finding', () => {
  test('has an id of ours: of its run and place, the same for a retry and another for another run', () => {
    const of = (facts: ReportFacts) =>
      filedFindings({ findings: [REPORTED, REPORTED], dispositions: [] }, facts).map(({ findingId }) => findingId);
    const ids = of(FACTS);
    expect(ids.every(isFindingId)).toBe(true);
    expect(new Set(ids).size).toBe(2);
    expect(of(FACTS)).toEqual(ids);
    expect(of({ ...FACTS, runId: 'another' })).not.toContain(ids[0]);
    expect(of({ ...FACTS, subjectDigest: parseDigest('subject', digest('b')) })).not.toContain(ids[0]);
  });

  test('blocks by the changed lines that it cites; where it only breaks, they may be elsewhere', () => {
    expect(one({ location: at(11, 11) })).toMatchObject({ gets: 'blocking', changedRange: { fromLine: 11 } });
    const elsewhere = one({ location: at(50, 51), changed_range: at(10, 10) });
    expect(elsewhere).toMatchObject({ gets: 'blocking', location: { fromLine: 50 }, changedRange: { fromLine: 10 } });
  });

  test('[inv-05] that cites lines which are not there, or not of the change, is adjacent whatever it asks for', () => {
    for (const change of [{}, { location: at(50, 51) }, { location: at(1, 4_000) }, { changed_range: at(90, 95) }]) {
      expect(one(change)).toMatchObject({ gets: 'adjacent', changedRange: null });
    }
    expect(one({ location: at(11, 11), causality: 'pre_existing' })).toMatchObject({ gets: 'adjacent' });
    expect(one({ location: at(11, 11), standing: 'advisory' })).toMatchObject({ gets: 'advisory' });
  });

  test('[inv-05] names criteria and earlier findings of this subject, and no others', () => {
    const criterion = subject.criteria.items[0]?.criterionId ?? '';
    expect(one({ criterion })).toMatchObject({ criterionId: criterion, gets: 'blocking' });
    expect(one({ criterion: 'another' })).toMatchObject({ criterionId: null, gets: 'adjacent' });
    expect(one({ prior_finding: PRIOR.findingId })).toMatchObject({ lineage: { priorFindingId: PRIOR.findingId } });
    expect(one({ prior_finding: `f-${'9'.repeat(32)}` })).toMatchObject({ lineage: null });
  });

  test('of the security requirement blocks by the revision that the subject has', () => {
    const found = one({ type: 'security', security_requirement: true });
    expect(found).toMatchObject({ securityRequirementRevision: subject.risk.securityRequirementRevision });
    expect(found.gets).toBe('blocking');
  });
});

describe('a disposition', () => {
  const said = (change: Partial<ReportedDisposition>) =>
    filedDispositions(
      {
        findings: [],
        dispositions: [{ finding: PRIOR.findingId, disposition: 'resolved', reason: 'gone', ...change }],
      },
      FACTS,
    );

  test('cites the new subject by names that we know, and their digests are ours', () => {
    expect(said({ evidence: ['diff', 'tests'] })).toEqual([
      {
        ...{ findingId: PRIOR.findingId, disposition: 'resolved', reasonCode: 'gone', supersededBy: null },
        evidenceRefs: [
          { id: 'diff', digest: subject.change?.diffDigest },
          { id: 'tests', digest: digest('c') },
        ],
      },
    ]);
  });

  test('[inv-02] that cites what nobody has rests on nothing', () => {
    expect(said({ evidence: ['my-own-report'] })).toMatchObject([{ evidenceRefs: [] }]);
  });

  test('[inv-05] of a finding that is no prior blocker of this subject is dropped', () => {
    expect(said({ finding: `f-${'9'.repeat(32)}`, evidence: ['diff'] })).toEqual([]);
  });

  test('is superseded by the version that was looked at', () => {
    expect(said({ disposition: 'superseded_by_subject_change' })).toMatchObject([{ supersededBy: headOf(subject) }]);
  });
});
