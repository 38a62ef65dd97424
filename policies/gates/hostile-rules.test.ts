/** Hostile cases by the numbers of spec/gate.md section 9; `gate-hostile-cases.ts` has the whole list. */
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../schemas/digest.ts';
import { evidenceItem } from '../../schemas/gate/evidence-set.ts';
import { readSubject } from '../../schemas/gate/subject.schema.ts';
import { subjectDigest } from '../../schemas/gate/subject.ts';
import { AS_OF, inputOf, Maker, MINUTE, worldOf } from '../../test/support/gate-fixtures.ts';
import { applicabilityOf, type ApplicabilityFacts } from './applicability.ts';
import { decideGate } from './decide.ts';
import { evaluateGate } from './evaluate.ts';
import { readFoundRecord } from './read-evidence.ts';
import { segment, judge, codes, clean, passed } from '../../test/support/gate-hostile.ts';

describe('rules out of the writer’s reach', () => {
  test('[fact-35] a subject has a risk class, and a lower one is another subject', () => {
    const high = segment({ risk: { class: 'high', securityRequirementRevision: 1 } });
    expect(() => readSubject({ ...high.subject, risk: { securityRequirementRevision: 1 } })).toThrow('risk.class');
    expect(subjectDigest(segment().subject)).not.toBe(subjectDigest(high.subject));
    expect(codes(high, clean(segment()))).toContain('evidence_foreign');
    expect(codes(high, clean(high))).toEqual(['blocked', 'verifier_missing']);
    const critical = segment({ risk: { class: 'critical', securityRequirementRevision: 1 } });
    expect(codes(critical, clean(critical)), 'a rule holds for every class above its own').toContain(
      'verifier_missing',
    );
  });

  test('[fact-36] a policy that the change brings along is not the policy of its gate', () => {
    const lenient = worldOf('segment', { policy: { requiredCriteria: 'manifest', revision: 9 } });
    const { input } = passed();
    const smuggled = { ...input, policy: inputOf(lenient, []).policy };
    const reasons = evaluateGate(smuggled).reasons.map((reason) => reason.code);
    expect(reasons).toEqual(['definition_names_other_policy', 'subject_names_other_policy']);
  });

  test('[fact-38] in whatever order an execution ends and a verifier finishes, the old decision does not apply', () => {
    const { decision, facts } = passed();
    const next = { ...facts.heads, executionId: 'exec-2', executionGeneration: 2, subjectDigest: null };
    const late = evidenceItem(new Maker(segment()).run('reviewer', { 'login-works': 'failed' }));
    const orders: readonly Partial<ApplicabilityFacts>[] = [
      { heads: next },
      { heads: next, later: [late] },
      { later: [late] },
    ];
    expect(orders.map((order) => applicabilityOf(decision, { ...facts, ...order }).moved)).toEqual([
      ['execution_superseded', 'subject_superseded'],
      ['contradicted', 'execution_superseded', 'subject_superseded'],
      ['contradicted'],
    ]);
  });

  test('[spec-reruns] twenty re-runs until green do not clear a fail', () => {
    const make = new Maker(segment());
    const green = Array.from({ length: 20 }, () => make.check('tests'));
    expect(judge(make.world, [make.check('tests', 'failed'), ...green, make.run('reviewer')]).decision).toBe('rework');
    const fail = make.run('reviewer', { 'login-works': 'failed' });
    const runs = Array.from({ length: 20 }, () => make.run('reviewer'));
    expect(judge(make.world, [make.check('tests'), fail, ...runs]).decision).toBe('human_required');
  });

  test('[spec-deleted-record] [inv-02] an index entry whose record was deleted blocks', () => {
    const world = segment();
    const gone = readFoundRecord({ digest: digestOf('evidence', 'the failed check'), found: null });
    const { decision, reasons } = evaluateGate(inputOf(world, clean(world), [gone]));
    expect([decision, reasons[0]?.code]).toEqual(['blocked', 'evidence_missing_record']);
  });

  test('[spec-other-as-of] the key does not know the time of evaluation; the record does', () => {
    const world = segment();
    const input = inputOf(world, clean(world));
    const [first, second] = [input, { ...input, asOf: AS_OF + MINUTE }].map((of) => decideGate(of, []));
    expect(second?.decision.evaluationKey).toBe(first?.decision.evaluationKey);
    expect(second?.digest).not.toBe(first?.digest);
    expect(decideGate({ ...input, asOf: first!.decision.asOf }, []).digest).toBe(first?.digest);
  });
});
