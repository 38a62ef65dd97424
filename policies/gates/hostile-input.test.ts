/** Hostile cases by the numbers of spec/gate.md section 9; `gate-hostile-cases.ts` has the whole list. */
import { describe, expect, test } from 'vitest';
import { canonicalBytes } from '../../schemas/canonical.ts';
import { digestOf } from '../../schemas/digest.ts';
import { evidenceItem } from '../../schemas/gate/evidence-set.ts';
import { readEvidenceRecord } from '../../schemas/gate/evidence.schema.ts';
import { readSubject } from '../../schemas/gate/subject.schema.ts';
import { subjectDigest } from '../../schemas/gate/subject.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { inputOf, Maker, principal, worldOf } from '../../test/support/gate-fixtures.ts';
import { decideGate } from './decide.ts';
import { evaluateGate } from './evaluate.ts';
import { runOutcomeOf } from './read-rows.ts';
import { segment, utf8 } from '../../test/support/gate-hostile.ts';

describe('input that two readers could understand differently', () => {
  test('[fact-1] a key twice is refused, also through an escape', () => {
    for (const text of ['{"status":"failed","status":"passed"}', '{"status":"failed","\\u0073tatus":"passed"}']) {
      expect(() => readStrictJson(utf8(text))).toThrow('is there twice');
    }
  });

  test('[fact-2] lone surrogates and bytes that are no UTF-8 get no digest', () => {
    expect(() => readStrictJson(Uint8Array.from([0x22, 0xc0, 0xaf, 0x22]))).toThrow('not UTF-8');
    expect(() => readStrictJson(utf8('"\\ud800"'))).toThrow('lone surrogate');
    expect(() => subjectDigest({ ...segment().subject, workflowRevision: 'a\ud800' })).toThrow('lone surrogate');
  });

  test('[fact-3] numbers that are not plain safe integers are refused', () => {
    for (const revision of [-0, 1e21, 2 ** 53, 1.5, '1', Number.NaN]) {
      expect(() => subjectDigest(readSubject({ ...segment().subject, stateRevision: revision }))).toThrow();
    }
  });

  test('[fact-4] the same record under two kinds has two digests', () => {
    const subject = segment().subject;
    const kinds = ['subject', 'policy', 'evidence', 'evidence-set'] as const;
    expect(new Set(kinds.map((kind) => digestOf(kind, subject))).size).toBe(kinds.length);
  });

  test('[fact-5] a delimiter moved from one field to the next gives another digest or no record', () => {
    const producer = segment().subject.producer;
    const named = (runId: string, resultId: string) => segment({ producer: { ...producer, runId, resultId } }).subject;
    expect(subjectDigest(named('a/b', 'c'))).not.toBe(subjectDigest(named('a', 'b/c')));
    expect(() => readSubject(named('a\0b', 'c'))).toThrow('runId');
  });

  test('[fact-6] objects with accessors, toJSON or a proxy behind them are read once or refused', () => {
    expect(() => canonicalBytes({ toJSON: () => 'passed' })).toThrow('toJSON');
    expect(() =>
      canonicalBytes(Object.defineProperty({}, 'status', { get: () => 'passed', enumerable: true })),
    ).toThrow();
    let reads = 0;
    const moody = new Proxy(
      { ...segment().subject },
      {
        get: (target, name) => (name === 'stateRevision' ? (reads += 1) : (Reflect.get(target, name) as unknown)),
      },
    );
    const once = readSubject(moody);
    expect(subjectDigest(once)).toBe(subjectDigest(once));
    expect(reads).toBe(1);
  });

  test('[fact-7] sets have one order and no repeats; a list keeps its order', () => {
    const subject = worldOf('merge').subject;
    const turned = { ...subject, requiredChecks: subject.requiredChecks.toReversed() };
    expect(subjectDigest(turned)).toBe(subjectDigest(subject));
    expect(() => subjectDigest({ ...subject, artifacts: [...subject.artifacts, ...subject.artifacts] })).toThrow(
      'twice',
    );
    const lineage = (...ids: string[]) =>
      segment({ producer: { ...subject.producer, principal: principal('p', ...ids) } });
    expect(subjectDigest(lineage('a', 'b').subject)).not.toBe(subjectDigest(lineage('b', 'a').subject));
  });

  test('[fact-8] a row for an unknown criterion or two for one make the whole result malformed', () => {
    const make = new Maker(segment());
    const [a, b] = [make.row('login-works', 'passed'), make.row('tests-cover-login', 'passed')];
    const malformed = { state: 'unavailable', reason: 'malformed_output' };
    const { subject } = make.world;
    expect(runOutcomeOf(subject, [a, b], false)).toEqual({ state: 'finished', rows: [a, b] });
    expect(runOutcomeOf(subject, [a, b, make.row('unknown', 'passed')], false)).toEqual(malformed);
    expect(runOutcomeOf(subject, [make.row('login-works', 'failed'), a, b], false)).toEqual(malformed);
    expect(runOutcomeOf(subject, [a], false)).toEqual(malformed);
    expect(runOutcomeOf(subject, [a, { ...b, evidenceRefs: [] }], false)).toEqual(malformed);
  });

  test('[fact-24] look-alike and decorated ids are no ids', () => {
    const make = new Maker(segment());
    const row = make.row('login-works', 'passed');
    for (const criterionId of ['lоgin-works', 'login-works\u200b', '\u202elogin-works', '```login-works']) {
      const run = make.run('reviewer', {}, { outcome: { state: 'finished', rows: [{ ...row, criterionId }] } });
      expect(() => readEvidenceRecord(run)).toThrow('criterionId');
      expect(runOutcomeOf(make.world.subject, [{ ...row, criterionId }], false).state).toBe('unavailable');
    }
  });

  test('[fact-33] ten thousand findings, five megabytes and 65 levels are answered within bounds', () => {
    const make = new Maker(segment());
    const finding = evidenceItem(make.finding());
    const many = Array.from({ length: 10_001 }, (_, n) => ({ ...finding, digest: digestOf('finding', n) }));
    const input = inputOf(make.world, make.clean());
    const start = performance.now();
    const flooded = evaluateGate({ ...input, evidence: { ...input.evidence, items: many } });
    expect(flooded.reasons.map((reason) => reason.code)).toEqual(['evidence_too_much']);
    expect(() => readEvidenceRecord({ ...make.finding(), failureScenario: 'x'.repeat(5_000_000) })).toThrow();
    expect(() => readStrictJson(utf8('['.repeat(65)))).toThrow('deeper');
    expect(performance.now() - start, 'milliseconds').toBeLessThan(1000);
    const few = many.slice(0, 9_000);
    const { decision } = decideGate({ ...input, evidence: { ...input.evidence, items: few } }, []);
    expect(decision.reasons.length).toBeLessThanOrEqual(1000);
  });
});
