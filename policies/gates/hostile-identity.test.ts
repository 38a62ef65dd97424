/** Hostile cases by the numbers of spec/gate.md section 9; `gate-hostile-cases.ts` has the whole list. */
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../schemas/digest.ts';
import { evidenceItem } from '../../schemas/gate/evidence-set.ts';
import { readEvidenceRecord } from '../../schemas/gate/evidence.schema.ts';
import { Maker, principal, worldOf } from '../../test/support/gate-fixtures.ts';
import { applicabilityOf } from './applicability.ts';
import { runOutcomeOf } from './read-rows.ts';
import { readFoundRecord } from './read-evidence.ts';
import { segment, judge, codes, clean, passed } from '../../test/support/gate-hostile.ts';

describe('whose evidence it is', () => {
  test('[fact-19] a record swapped in place blocks, and takes an earlier pass with it', () => {
    const world = segment();
    const [check] = clean(world);
    const digest = evidenceItem(check!).digest;
    const swapped = readFoundRecord({ digest, found: { ...check, attempt: 99 } as never });
    expect(swapped.problem).toBe('tampered');
    const { decision, facts } = passed();
    expect(applicabilityOf(decision, { ...facts, later: [swapped] }).applicability).toBe('evidence_tampered');
    expect(applicabilityOf(decision, { ...facts, intact: false }).applicability).toBe('evidence_tampered');
  });

  test('[fact-20] evidence of another tenant, execution, generation, head or definition is foreign', () => {
    const make = new Maker(segment());
    const run = make.run('reviewer');
    const changes = [
      { tenant: 'other' },
      { executionId: 'exec-9' },
      { executionGeneration: 9 },
      { head: 'f'.repeat(40) },
      { definitionDigest: digestOf('definition', 'true') },
      { checkId: 'lint' },
    ];
    for (const change of changes) {
      const said = codes(make.world, [make.check('tests', 'passed', change), run]);
      expect(said, JSON.stringify(change)).toEqual(['blocked', 'evidence_foreign', 'check_missing']);
    }
  });

  test('[fact-21] a verifier related to the producer is no verifier', () => {
    const hands = [
      principal('forge-1'),
      principal('other-run', 'forge-1'),
      principal('helper', 'forge-1', 'forge'),
      principal('sibling', 'forge'),
      principal('forge'),
    ];
    for (const hand of hands) {
      const make = new Maker(segment());
      const run = make.run('reviewer', {}, { verifier: { principal: hand, class: 'reviewer' } });
      expect(codes(make.world, [make.check('tests'), run]), hand.id).toEqual(['blocked', 'independence_violation']);
    }
  });

  test('[fact-22] one hand sits in one seat, and not in judgement of itself', () => {
    const world = worldOf('merge', { subject: { risk: { class: 'critical', securityRequirementRevision: 1 } } });
    const make = new Maker(world);
    const base = [...make.clean(), make.run('security')];
    const ada = make.human({ principal: principal('ada') });
    const adaAgain = make.human({ principal: principal('ada-laptop', 'ada') });
    const self = make.human({ principal: principal('forge'), selfReview: true });
    const verifier = make.human({ principal: principal('reviewer-again', 'reviewer-run-3') });
    expect(codes(world, [...base, ada, adaAgain])).toEqual(['human_required', 'human_missing']);
    expect(codes(world, [...base, ada, self])).toEqual(['human_required', 'human_missing']);
    const reviewer = base.find((record) => record.schema === 'portcullis/verification-run/v1');
    const root = reviewer?.schema === 'portcullis/verification-run/v1' ? reviewer.verifier.principal.id : '';
    expect(codes(world, [...base, ada, { ...verifier, principal: principal('x', root) }])).toContain('human_missing');
    expect(codes(world, [...base, ada, make.human()])).toEqual(['pass']);
  });

  test('[fact-25] a context that was cut is inconclusive whatever the model says', () => {
    const make = new Maker(segment());
    const rows = make.world.subject.criteria.items.map((item) => make.row(item.criterionId, 'passed'));
    const outcome = runOutcomeOf(make.world.subject, rows, true);
    expect(outcome).toEqual({ state: 'unavailable', reason: 'context_truncated' });
    expect(judge(make.world, [make.check('tests'), make.run('reviewer', {}, { outcome })]).decision).toBe('blocked');
  });

  test('[fact-26] revoking a grant or a principal that a pass rests on takes it away', () => {
    const { decision, facts } = passed();
    expect(decision.authorities.length).toBeGreaterThan(1);
    for (const name of decision.authorities) {
      const view = applicabilityOf(decision, { ...facts, revoked: new Set([name]) });
      expect(view.applicability, name).toBe('revoked');
    }
  });

  test('[fact-27] [inv-07] a budget that ran out says nothing of the work', () => {
    const make = new Maker(segment());
    const run = make.run('reviewer', {}, { outcome: { state: 'unavailable', reason: 'budget_exhausted' } });
    const said = codes(make.world, [make.check('tests'), run]);
    expect(said).not.toContain('criterion_failed');
    expect(said[0]).toBe('blocked');
  });

  test('[fact-28] why a run was unavailable is one of a closed list, never a message', () => {
    const make = new Maker(segment());
    const run = make.run('reviewer', {}, { outcome: { state: 'unavailable', reason: 'connection refused' as never } });
    expect(() => readEvidenceRecord(run)).toThrow('outcome.reason');
  });
});
