/** Hostile cases by the numbers of spec/gate.md section 9; `gate-hostile-cases.ts` has the whole list. */
import { describe, expect, test } from 'vitest';
import { AS_OF, Maker, MINUTE } from '../../test/support/gate-fixtures.ts';
import { applicabilityOf } from './applicability.ts';
import { segment, judge, codes, passed } from '../../test/support/gate-hostile.ts';

describe('time', () => {
  const hourly = (seconds: number) =>
    segment({
      requiredChecks: segment().subject.requiredChecks.map((check) => ({
        ...check,
        timeSensitive: true,
        horizonSeconds: seconds,
      })),
    });

  test('[fact-29] a horizon is half-open, the future is refused, and a decision does not un-expire', () => {
    const world = hourly(3600);
    const make = new Maker(world);
    const seen = (at: number) =>
      codes(world, [make.check('tests', 'passed', { observedAt: at }), make.run('reviewer')]);
    expect(seen(AS_OF - 60 * MINUTE)).toEqual(['blocked', 'evidence_stale']);
    expect(seen(AS_OF - 60 * MINUTE + 1)).toEqual(['pass']);
    expect(seen(AS_OF + 5_000)).toEqual(['pass']);
    expect(seen(AS_OF + 5_001)).toEqual(['blocked', 'evidence_from_future']);
    const { decision, facts } = passed(world);
    const until = decision.validUntil!;
    expect(until).toBe(AS_OF + 30 * MINUTE);
    expect(applicabilityOf(decision, { ...facts, now: until - 1 }).applicability).toBe('applicable');
    expect(applicabilityOf(decision, { ...facts, now: until }).applicability).toBe('expired');
  });

  test('[fact-30] evidence that is not time-sensitive does not age', () => {
    const make = new Maker(segment());
    const old = { observedAt: AS_OF - 2 * 365 * 24 * 60 * MINUTE };
    const { decision, validUntil } = judge(make.world, [make.check('tests', 'passed', old), make.run('reviewer')]);
    expect([decision, validUntil]).toEqual(['pass', null]);
    const timed = new Maker(hourly(60));
    const scan = timed.check('tests', 'passed', { observedAt: AS_OF - 61_000 });
    expect(codes(timed.world, [scan, timed.run('reviewer')])).toEqual(['blocked', 'evidence_stale']);
  });
});
