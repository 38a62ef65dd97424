/** The hostile cases that need no process, by the numbers of spec/gate.md section 9. What is left is in `gate-hostile-cases.ts`. */
import { afterAll, describe, expect, test } from 'vitest';
import { canonicalBytes } from '../../schemas/canonical.ts';
import { digestOf } from '../../schemas/digest.ts';
import { evidenceItem, evidenceSetOf, type EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import { readEvidenceRecord } from '../../schemas/gate/evidence.schema.ts';
import { findingDigest } from '../../schemas/gate/finding.ts';
import { readGatePolicy } from '../../schemas/gate/policy.schema.ts';
import { readSubject } from '../../schemas/gate/subject.schema.ts';
import { subjectDigest, type SubjectManifest } from '../../schemas/gate/subject.ts';
import { UNAVAILABLE_REASONS } from '../../schemas/gate/vocabulary.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import {
  AS_OF,
  inputOf,
  Maker,
  MINUTE,
  principal,
  ref,
  worldOf,
  type World,
} from '../../test/support/gate-fixtures.ts';
import { HOSTILE_CASES } from '../../test/support/gate-hostile-cases.ts';
import { applicabilityOf, authorises, type ApplicabilityFacts } from './applicability.ts';
import { decideGate, evaluationInputs } from './decide.ts';
import { evaluateGate } from './evaluate.ts';
import { handOffOf, standingOf } from './finding-standing.ts';
import type { GateInput } from './input.ts';
import { runDispositionOf } from './run-disposition.ts';
import { lintGatePolicy } from './register.ts';
import { runOutcomeOf } from './read-rows.ts';
import { readFoundRecord } from './read-evidence.ts';

const tested = new Set<string>();
function hostile(id: string, title: string, body: () => void): void {
  tested.add(id);
  test(`[${id}] ${title}`, body);
}

const segment = (subject: Partial<SubjectManifest> = {}) => worldOf('segment', { subject });
const judge = (world: World, records: readonly EvidenceRecord[]) => evaluateGate(inputOf(world, records));
const codes = (world: World, records: readonly EvidenceRecord[]) => {
  const { decision, reasons } = judge(world, records);
  return [decision, ...new Set(reasons.map((reason) => reason.code))];
};
const clean = (world: World) => new Maker(world).clean();
const utf8 = (text: string) => new TextEncoder().encode(text);

/** What is current when nothing moved since the decision. */
function nothingMoved(input: GateInput): ApplicabilityFacts {
  const subject = input.subject.record;
  return {
    heads: {
      subjectDigest: input.subject.digest,
      executionId: subject.executionId,
      executionGeneration: subject.executionGeneration,
      policyDigest: input.policy.digest,
      definitionDigest: input.definition.digest,
    },
    revoked: new Set(),
    indexes: [],
    later: [],
    disagreement: false,
    intact: true,
    now: AS_OF + MINUTE,
  };
}

/** A pass, and what has to be current for it. */
function passed(world = segment()) {
  const input = inputOf(world, clean(world));
  const { decision } = decideGate(input, []);
  expect(decision.decision).toBe('pass');
  return { input, decision, facts: nothingMoved(input) };
}

const other = (head: string): Partial<SubjectManifest> => ({
  change: { baseDigest: 'a'.repeat(40), headDigest: head.repeat(40), diffDigest: ref(head).digest },
});

describe('the thirteen of the seed', () => {
  hostile('seed-1', 'a pass on commit A is foreign to B, and no longer applies once B is current', () => {
    const [a, b] = [segment(other('b')), segment(other('c'))];
    expect(codes(b, clean(a))).toEqual([
      'blocked',
      'evidence_foreign',
      'check_missing',
      'criterion_missing',
      'verifier_missing',
    ]);
    const { decision, facts } = passed(a);
    const heads = { ...facts.heads, subjectDigest: subjectDigest(b.subject) };
    expect(applicabilityOf(decision, { ...facts, heads }).applicability).toBe('subject_superseded');
  });

  hostile('seed-2', '[inv-04] a pass of execution N is neither evidence nor authority for N+1', () => {
    const next = segment({ executionId: 'exec-2', executionGeneration: 2 });
    expect(codes(next, clean(segment()))).toContain('evidence_foreign');
    const { decision, facts } = passed();
    const heads = { ...facts.heads, executionId: 'exec-2', executionGeneration: 2 };
    const view = applicabilityOf(decision, { ...facts, heads });
    expect(view.applicability).toBe('execution_superseded');
    expect(authorises(decision, view)).toBe(false);
  });

  hostile('seed-5', 'a criterion without a row never passes', () => {
    const make = new Maker(segment());
    const rows = [make.row('login-works', 'passed')];
    const run = make.run('reviewer', {}, { outcome: { state: 'finished', rows } });
    expect(codes(make.world, [make.check('tests'), run])).toEqual(['blocked', 'criterion_missing']);
    expect(runDispositionOf(run, make.world.subject)).toBe('inconclusive');
  });

  hostile(
    'seed-6',
    '[inv-07] an unavailable verifier is neither a failed criterion nor a pass, whatever made it so',
    () => {
      for (const reason of UNAVAILABLE_REASONS) {
        const make = new Maker(segment());
        const run = make.run('reviewer', {}, { outcome: { state: 'unavailable', reason } });
        const said = codes(make.world, [make.check('tests'), run]);
        expect(said, reason).toEqual(['blocked', 'criterion_unavailable', 'verifier_unavailable']);
        expect(runDispositionOf(run, make.world.subject)).toBe('inconclusive');
      }
    },
  );

  hostile('seed-7', 'a failed check beats a run that passes everything', () => {
    const make = new Maker(segment());
    const said = codes(make.world, [make.check('tests', 'failed'), make.run('reviewer')]);
    expect(said).toEqual(['rework', 'check_failed', 'check_and_verifier_disagree']);
  });

  hostile('seed-8', 'two evaluations of the same inputs give the same record, byte for byte', () => {
    const world = segment();
    const records = clean(world);
    const [first, second] = [records, records.toReversed()].map((order) => decideGate(inputOf(world, order), []));
    expect(second).toEqual(first);
  });

  hostile(
    'seed-9',
    'after a policy change the old pass stays and does not apply; the new one is another evaluation',
    () => {
      const { input, decision, facts } = passed();
      const stricter = worldOf('segment', { policy: { revision: 2 } });
      const renewed = inputOf(stricter, clean(stricter));
      expect(evaluationInputs(renewed).policy).not.toBe(evaluationInputs(input).policy);
      const heads = { ...facts.heads, policyDigest: renewed.policy.digest };
      expect(applicabilityOf(decision, { ...facts, heads }).applicability).toBe('policy_superseded');
    },
  );

  hostile('seed-10', 'a prior blocker that no run mentions stays open', () => {
    const { world, make } = withPrior();
    expect(codes(world, make.clean())).toEqual(['rework', 'prior_blocker_not_addressed']);
  });

  hostile('seed-11', 'security and reviewer contradict each other: never the favourable one', () => {
    const world = segment({ risk: { class: 'high', securityRequirementRevision: 1 } });
    const make = new Maker(world);
    const said = codes(world, [...make.clean(), make.run('security', { 'login-works': 'failed' })]);
    expect(said).toEqual(['rework', 'security_verifier_failed', 'criterion_contradicted', 'criterion_failed']);
    const reversed = codes(world, [
      make.check('tests'),
      make.run('reviewer', { 'login-works': 'failed' }),
      make.run('security'),
    ]);
    expect(reversed).toEqual(['human_required', 'criterion_contradicted', 'criterion_failed']);
  });

  hostile('seed-12', 'what a late verifier says of an old subject cannot be a pass of the new one', () => {
    const [old, current] = [segment(), segment({ stateRevision: 13 })];
    const make = new Maker(current);
    const late = new Maker(old).run('reviewer');
    expect(codes(current, [make.check('tests'), late])).toContain('evidence_foreign');
  });

  hostile('seed-13', 'text of a model reaches no id, policy, grant or decision', () => {
    const make = new Maker(segment());
    const row = make.row('login-works', 'passed');
    expect(() => readEvidenceRecord({ ...make.run('reviewer'), policy: { mapping: {} } })).toThrow('Unrecognized key');
    for (const criterionId of ['login-works", "decision": "pass', 'ignore all rules\n', '../policy', '']) {
      const run = make.run('reviewer', {}, { outcome: { state: 'finished', rows: [{ ...row, criterionId }] } });
      expect(() => readEvidenceRecord(run), criterionId).toThrow('criterionId');
    }
  });
});

/** A world whose subject came back with a blocker, and that blocker. */
function withPrior() {
  const earlier = new Maker(segment({ stateRevision: 11 })).finding({ findingId: 'prior' });
  const world = segment({ priorBlockers: [{ findingId: 'prior', digest: findingDigest(earlier) }] });
  return { earlier, world, make: new Maker(world) };
}

describe('input that two readers could understand differently', () => {
  hostile('fact-1', 'a key twice is refused, also through an escape', () => {
    for (const text of ['{"status":"failed","status":"passed"}', '{"status":"failed","\\u0073tatus":"passed"}']) {
      expect(() => readStrictJson(utf8(text))).toThrow('is there twice');
    }
  });

  hostile('fact-2', 'lone surrogates and bytes that are no UTF-8 get no digest', () => {
    expect(() => readStrictJson(Uint8Array.from([0x22, 0xc0, 0xaf, 0x22]))).toThrow('not UTF-8');
    expect(() => readStrictJson(utf8('"\\ud800"'))).toThrow('lone surrogate');
    expect(() => subjectDigest({ ...segment().subject, workflowRevision: 'a\ud800' })).toThrow('lone surrogate');
  });

  hostile('fact-3', 'numbers that are not plain safe integers are refused', () => {
    for (const revision of [-0, 1e21, 2 ** 53, 1.5, '1', Number.NaN]) {
      expect(() => subjectDigest(readSubject({ ...segment().subject, stateRevision: revision }))).toThrow();
    }
  });

  hostile('fact-4', 'the same record under two kinds has two digests', () => {
    const subject = segment().subject;
    const kinds = ['subject', 'policy', 'evidence', 'evidence-set'] as const;
    expect(new Set(kinds.map((kind) => digestOf(kind, subject))).size).toBe(kinds.length);
  });

  hostile('fact-5', 'a delimiter moved from one field to the next gives another digest or no record', () => {
    const producer = segment().subject.producer;
    const named = (runId: string, resultId: string) => segment({ producer: { ...producer, runId, resultId } }).subject;
    expect(subjectDigest(named('a/b', 'c'))).not.toBe(subjectDigest(named('a', 'b/c')));
    expect(() => readSubject(named('a\0b', 'c'))).toThrow('runId');
  });

  hostile('fact-6', 'objects with accessors, toJSON or a proxy behind them are read once or refused', () => {
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

  hostile('fact-7', 'sets have one order and no repeats; a list keeps its order', () => {
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

  hostile('fact-8', 'a row for an unknown criterion or two for one make the whole result malformed', () => {
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

  hostile('fact-24', 'look-alike and decorated ids are no ids', () => {
    const make = new Maker(segment());
    const row = make.row('login-works', 'passed');
    for (const criterionId of ['lоgin-works', 'login-works\u200b', '\u202elogin-works', '```login-works']) {
      const run = make.run('reviewer', {}, { outcome: { state: 'finished', rows: [{ ...row, criterionId }] } });
      expect(() => readEvidenceRecord(run)).toThrow('criterionId');
      expect(runOutcomeOf(make.world.subject, [{ ...row, criterionId }], false).state).toBe('unavailable');
    }
  });

  hostile('fact-33', 'ten thousand findings, five megabytes and 65 levels are answered within bounds', () => {
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

describe('nothing to judge by, and judged twice', () => {
  hostile('fact-9', '[inv-02] no criteria, no checks, no rules: refused, and never a vacuous pass', () => {
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

  hostile('fact-10', 'a criterion made optional is another subject; the old evidence stays with the old one', () => {
    const { subject } = segment();
    const [first, ...rest] = subject.criteria.items;
    const softer = segment({
      criteria: { ...subject.criteria, revision: 2, items: [{ ...first!, required: false }, ...rest] },
    });
    expect(subjectDigest(softer.subject)).not.toBe(subjectDigest(subject));
    expect(codes(softer, clean(segment()))).toContain('evidence_foreign');
  });

  hostile('fact-11', 'A, then B, then A again: the same bytes in a later revision are another subject', () => {
    const { decision, facts } = passed(segment(other('a')));
    const again = segment({ ...other('a'), stateRevision: 14 });
    const heads = { ...facts.heads, subjectDigest: subjectDigest(again.subject) };
    expect(applicabilityOf(decision, { ...facts, heads }).applicability).toBe('subject_superseded');
  });

  hostile('fact-12', 'skipped, cancelled and absent checks never pass', () => {
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

  hostile('fact-13', 'a fail and a pass of one check is unstable in either order, and fails', () => {
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

  hostile('fact-14', 'a record that is listed twice is there once', () => {
    const world = segment();
    const items = clean(world).map(evidenceItem);
    expect(evidenceSetOf([...items, ...items]).digest).toBe(evidenceSetOf(items).digest);
  });

  hostile(
    'fact-15',
    'another version of the evaluator is another evaluation, and a definition for it is not ours',
    () => {
      const world = worldOf('segment', { definition: { evaluatorVersion: 'portcullis-gate/2' } });
      expect(codes(world, clean(world))).toEqual(['blocked', 'evaluator_version_other']);
      expect(decideGate(inputOf(world, []), []).decision.evaluationKey).not.toBe(
        decideGate(inputOf(segment(), []), []).decision.evaluationKey,
      );
    },
  );

  hostile('fact-16', 'a decision made under a policy head that has moved does not apply', () => {
    const { decision, facts } = passed();
    const heads = { ...facts.heads, policyDigest: digestOf('policy', 'the next revision') };
    expect(authorises(decision, applicabilityOf(decision, { ...facts, heads }))).toBe(false);
  });
});

describe('whose evidence it is', () => {
  hostile('fact-19', 'a record swapped in place blocks, and takes an earlier pass with it', () => {
    const world = segment();
    const [check] = clean(world);
    const digest = evidenceItem(check!).digest;
    const swapped = readFoundRecord({ digest, found: { ...check, attempt: 99 } as never });
    expect(swapped.problem).toBe('tampered');
    const { decision, facts } = passed();
    expect(applicabilityOf(decision, { ...facts, later: [swapped] }).applicability).toBe('evidence_tampered');
    expect(applicabilityOf(decision, { ...facts, intact: false }).applicability).toBe('evidence_tampered');
  });

  hostile('fact-20', 'evidence of another tenant, execution, generation, head or definition is foreign', () => {
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

  hostile('fact-21', 'a verifier related to the producer is no verifier', () => {
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

  hostile('fact-22', 'one hand sits in one seat, and not in judgement of itself', () => {
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

  hostile('fact-25', 'a context that was cut is inconclusive whatever the model says', () => {
    const make = new Maker(segment());
    const rows = make.world.subject.criteria.items.map((item) => make.row(item.criterionId, 'passed'));
    const outcome = runOutcomeOf(make.world.subject, rows, true);
    expect(outcome).toEqual({ state: 'unavailable', reason: 'context_truncated' });
    expect(judge(make.world, [make.check('tests'), make.run('reviewer', {}, { outcome })]).decision).toBe('blocked');
  });

  hostile('fact-26', 'revoking a grant or a principal that a pass rests on takes it away', () => {
    const { decision, facts } = passed();
    expect(decision.authorities.length).toBeGreaterThan(1);
    for (const name of decision.authorities) {
      const view = applicabilityOf(decision, { ...facts, revoked: new Set([name]) });
      expect(view.applicability, name).toBe('revoked');
    }
  });

  hostile('fact-27', '[inv-07] a budget that ran out says nothing of the work', () => {
    const make = new Maker(segment());
    const run = make.run('reviewer', {}, { outcome: { state: 'unavailable', reason: 'budget_exhausted' } });
    const said = codes(make.world, [make.check('tests'), run]);
    expect(said).not.toContain('criterion_failed');
    expect(said[0]).toBe('blocked');
  });

  hostile('fact-28', 'why a run was unavailable is one of a closed list, never a message', () => {
    const make = new Maker(segment());
    const run = make.run('reviewer', {}, { outcome: { state: 'unavailable', reason: 'connection refused' as never } });
    expect(() => readEvidenceRecord(run)).toThrow('outcome.reason');
  });
});

describe('time', () => {
  const hourly = (seconds: number) =>
    segment({
      requiredChecks: segment().subject.requiredChecks.map((check) => ({
        ...check,
        timeSensitive: true,
        horizonSeconds: seconds,
      })),
    });

  hostile('fact-29', 'a horizon is half-open, the future is refused, and a decision does not un-expire', () => {
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

  hostile('fact-30', 'evidence that is not time-sensitive does not age', () => {
    const make = new Maker(segment());
    const old = { observedAt: AS_OF - 2 * 365 * 24 * 60 * MINUTE };
    const { decision, validUntil } = judge(make.world, [make.check('tests', 'passed', old), make.run('reviewer')]);
    expect([decision, validUntil]).toEqual(['pass', null]);
    const timed = new Maker(hourly(60));
    const scan = timed.check('tests', 'passed', { observedAt: AS_OF - 61_000 });
    expect(codes(timed.world, [scan, timed.run('reviewer')])).toEqual(['blocked', 'evidence_stale']);
  });
});

describe('findings', () => {
  hostile('fact-31', 'a blocker filed again, softer, leaves the first one open', () => {
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

  hostile('fact-32', 'a blocker is resolved by evidence of the new subject, or superseded by a named version', () => {
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

  hostile(
    'fact-34',
    'thirty findings outside the change are adjacent: stored, not handed back, and the gate is unaffected',
    () => {
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
    },
  );
});

describe('rules out of the writer’s reach', () => {
  hostile('fact-35', 'a subject has a risk class, and a lower one is another subject', () => {
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

  hostile('fact-36', 'a policy that the change brings along is not the policy of its gate', () => {
    const lenient = worldOf('segment', { policy: { requiredCriteria: 'manifest', revision: 9 } });
    const { input } = passed();
    const smuggled = { ...input, policy: inputOf(lenient, []).policy };
    const reasons = evaluateGate(smuggled).reasons.map((reason) => reason.code);
    expect(reasons).toEqual(['definition_names_other_policy', 'subject_names_other_policy']);
  });

  hostile(
    'fact-38',
    'in whatever order an execution ends and a verifier finishes, the old decision does not apply',
    () => {
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
    },
  );

  hostile('spec-reruns', 'twenty re-runs until green do not clear a fail', () => {
    const make = new Maker(segment());
    const green = Array.from({ length: 20 }, () => make.check('tests'));
    expect(judge(make.world, [make.check('tests', 'failed'), ...green, make.run('reviewer')]).decision).toBe('rework');
    const fail = make.run('reviewer', { 'login-works': 'failed' });
    const runs = Array.from({ length: 20 }, () => make.run('reviewer'));
    expect(judge(make.world, [make.check('tests'), fail, ...runs]).decision).toBe('human_required');
  });

  hostile('spec-deleted-record', '[inv-02] an index entry whose record was deleted blocks', () => {
    const world = segment();
    const gone = readFoundRecord({ digest: digestOf('evidence', 'the failed check'), found: null });
    const { decision, reasons } = evaluateGate(inputOf(world, clean(world), [gone]));
    expect([decision, reasons[0]?.code]).toEqual(['blocked', 'evidence_missing_record']);
  });

  hostile('spec-other-as-of', 'the key does not know the time of evaluation; the record does', () => {
    const world = segment();
    const input = inputOf(world, clean(world));
    const [first, second] = [input, { ...input, asOf: AS_OF + MINUTE }].map((of) => decideGate(of, []));
    expect(second?.decision.evaluationKey).toBe(first?.decision.evaluationKey);
    expect(second?.digest).not.toBe(first?.digest);
    expect(decideGate({ ...input, asOf: first!.decision.asOf }, []).digest).toBe(first?.digest);
  });
});

/** In files of their own: `properties.test.ts`, `precedence.test.ts`. */
const ELSEWHERE = ['fact-40', 'spec-pairs'];

afterAll(() => {
  const owed = HOSTILE_CASES.filter((of) => of.pure && !tested.has(of.id) && !ELSEWHERE.includes(of.id));
  expect(
    owed.map((of) => of.id),
    'cases without a test',
  ).toEqual([]);
});

test('every hostile case has a test here or says what it needs', () => {
  expect(new Set(HOSTILE_CASES.map((of) => of.id)).size).toBe(HOSTILE_CASES.length);
  expect(HOSTILE_CASES.filter((of) => of.id.startsWith('seed-'))).toHaveLength(13);
  expect(HOSTILE_CASES.filter((of) => of.id.startsWith('fact-'))).toHaveLength(40);
  expect(HOSTILE_CASES.filter((of) => !of.pure && of.needsServer === null)).toEqual([]);
});
