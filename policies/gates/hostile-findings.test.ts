/** Hostile cases by the numbers of spec/gate.md section 9; `gate-hostile-cases.ts` has the whole list. */
import { describe, expect, test } from 'vitest';
import { readEvidenceRecord } from '../../schemas/gate/evidence.schema.ts';
import { Maker, ref } from '../../test/support/gate-fixtures.ts';
import { handOffOf, standingOf } from './finding-standing.ts';
import { segment, codes, withPrior } from '../../test/support/gate-hostile.ts';

describe('findings', () => {
  test('[fact-31] a blocker filed again, softer, leaves the first one open', () => {
    const make = new Maker(segment());
    const finding = make.finding({ findingId: 'f' });
    const softer = { standing: 'advisory', severity: 'nit' } as const;
    expect(codes(make.world, [...make.clean(), finding, make.finding(softer)])).toEqual(['rework', 'blocker_open']);
    const reused = { ...finding, ...softer };
    expect(codes(make.world, [...make.clean(), finding, reused])).toEqual([
      'blocked',
      'finding_conflict',
      'blocker_open',
    ]);
  });

  test('[fact-32] a blocker is resolved by evidence of the new subject, or superseded by a named version', () => {
    const { earlier, world, make } = withPrior();
    const run = make.run('reviewer');
    const say = (...args: Parameters<Maker['disposition']> extends [unknown, ...infer Rest] ? Rest : never) =>
      codes(world, [make.check('tests'), run, make.disposition(earlier, ...args)]);
    const by = { runId: run.runId };
    expect(say('resolved', by)).toEqual(['pass']);
    expect(say('resolved', { ...by, evidenceRefs: [ref('old-report')] })).toEqual(['rework', 'resolution_unsupported']);
    expect(say('resolved', { ...by, evidenceRefs: [] })).toEqual(['rework', 'resolution_unsupported']);
    expect(say('resolved', { runId: 'run-of-another-subject' })).toEqual(['rework', 'resolution_unsupported']);
    expect(say('superseded_by_subject_change', by)).toEqual(['pass']);
    const nameless = make.disposition(earlier, 'superseded_by_subject_change', { ...by, supersededBy: null });
    expect(() => readEvidenceRecord(nameless)).toThrow('supersededBy');
    expect(codes(world, [make.check('tests'), run, nameless])).toEqual(['rework', 'resolution_unsupported']);
  });

  test('[fact-34] thirty findings outside the change are adjacent: stored, not handed back, and the gate is unaffected', () => {
    const make = new Maker(segment());
    const filed = Array.from({ length: 30 }, () => make.finding({ causality: 'pre_existing' }));
    const stored = filed.map((finding) => ({
      ...finding,
      standing: standingOf(finding, make.world.subject, () => false),
    }));
    expect(new Set(stored.map((finding) => finding.standing))).toEqual(new Set(['adjacent']));
    expect(handOffOf(stored)).toEqual([]);
    expect(codes(make.world, [...make.clean(), ...stored])).toEqual(['pass']);
    expect(() => readEvidenceRecord(filed[0])).toThrow('was there before');
  });
});
