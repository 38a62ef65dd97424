/** Hostile cases by the numbers of spec/gate.md section 9; `gate-hostile-cases.ts` has the whole list. */
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../schemas/digest.ts';
import { evidenceItem, evidenceSetOf, type EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import { readGatePolicy } from '../../schemas/gate/policy.schema.ts';
import { readSubject } from '../../schemas/gate/subject.schema.ts';
import { subjectDigest } from '../../schemas/gate/subject.ts';
import { AS_OF, inputOf, Maker, MINUTE, worldOf } from '../../test/support/gate-fixtures.ts';
import { applicabilityOf, authorises } from './applicability.ts';
import { decideGate } from './decide.ts';
import { lintGatePolicy } from './register.ts';
import { segment, judge, codes, clean, passed, other } from '../../test/support/gate-hostile.ts';

describe('nothing to judge by, and judged twice', () => {
  test('[fact-9] [inv-02] no criteria, no checks, no rules: refused, and never a vacuous pass', () => {
    const { subject, policy } = segment();
    expect(() => readSubject({ ...subject, criteria: { ...subject.criteria, items: [] } })).toThrow('at least one');
    expect(() => readGatePolicy({ ...policy, requiredChecks: [] })).toThrow('requires no check');
    expect(lintGatePolicy({}).registered).toBeNull();
    const optional = segment({
      criteria: { ...subject.criteria, items: subject.criteria.items.map((item) => ({ ...item, required: false })) },
    });
    expect(judge(optional, clean(optional)).decision).toBe('blocked');
    const empty = worldOf('segment', {
      policy: { requiredChecks: [], verifierClasses: [], humans: [] },
      subject: { criteria: { ...subject.criteria, items: [] } },
    });
    expect(judge(empty, []).decision).toBe('blocked');
  });

  test('[fact-10] a criterion made optional is another subject; the old evidence stays with the old one', () => {
    const { subject } = segment();
    const [first, ...rest] = subject.criteria.items;
    const softer = segment({
      criteria: { ...subject.criteria, revision: 2, items: [{ ...first!, required: false }, ...rest] },
    });
    expect(subjectDigest(softer.subject)).not.toBe(subjectDigest(subject));
    expect(codes(softer, clean(segment()))).toContain('evidence_foreign');
  });

  test('[fact-11] A, then B, then A again: the same bytes in a later revision are another subject', () => {
    const { decision, facts } = passed(segment(other('a')));
    const again = segment({ ...other('a'), stateRevision: 14 });
    const heads = { ...facts.heads, subjectDigest: subjectDigest(again.subject) };
    expect(applicabilityOf(decision, { ...facts, heads }).applicability).toBe('subject_superseded');
  });

  test('[fact-12] skipped, cancelled and absent checks never pass', () => {
    const make = new Maker(segment());
    const run = make.run('reviewer');
    const counts = { executed: 3, passed: 3, failed: 0, skipped: 4, provenance: 'reporter_file' as const };
    const cases: readonly (readonly EvidenceRecord[])[] = [
      [make.check('tests', 'not_tested')],
      [make.check('tests', 'inconclusive', { unavailable: 'cancelled' })],
      [make.check('tests', 'passed', { counts })],
      [make.check('tests', 'passed', { counts: null })],
      [make.attempt('tests')],
      [],
    ];
    for (const checks of cases) expect(judge(make.world, [...checks, run]).decision).toBe('blocked');
  });

  test('[fact-13] a fail and a pass of one check is unstable in either order, and fails', () => {
    const make = new Maker(segment());
    const at = (minutes: number) => ({ observedAt: AS_OF - minutes * MINUTE });
    for (const [fail, pass] of [
      [30, 20],
      [20, 30],
    ] as const) {
      const records = [
        make.check('tests', 'failed', at(fail)),
        make.check('tests', 'passed', at(pass)),
        make.run('reviewer'),
      ];
      expect(codes(make.world, records)).toEqual([
        'rework',
        'check_failed',
        'check_and_verifier_disagree',
        'check_unstable',
      ]);
    }
  });

  test('[fact-14] a record that is listed twice is there once', () => {
    const world = segment();
    const items = clean(world).map(evidenceItem);
    expect(evidenceSetOf([...items, ...items]).digest).toBe(evidenceSetOf(items).digest);
  });

  test('[fact-15] another version of the evaluator is another evaluation, and a definition for it is not ours', () => {
    const world = worldOf('segment', { definition: { evaluatorVersion: 'portcullis-gate/2' } });
    expect(codes(world, clean(world))).toEqual(['blocked', 'evaluator_version_other']);
    expect(decideGate(inputOf(world, []), []).decision.evaluationKey).not.toBe(
      decideGate(inputOf(segment(), []), []).decision.evaluationKey,
    );
  });

  test('[fact-16] a decision made under a policy head that has moved does not apply', () => {
    const { decision, facts } = passed();
    const heads = { ...facts.heads, policyDigest: digestOf('policy', 'the next revision') };
    expect(authorises(decision, applicabilityOf(decision, { ...facts, heads }))).toBe(false);
  });
});
