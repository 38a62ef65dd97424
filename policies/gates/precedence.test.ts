import { describe, expect, test } from 'vitest';
import { digestOf } from '../../schemas/digest.ts';
import type { EvidenceItem, EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import type { GatePolicy } from '../../schemas/gate/policy.ts';
import { GATE_CASES, OVERRIDABLE_CASES, type GateCase, type GateDecisionWord } from '../../schemas/gate/vocabulary.ts';
import { inputOf, Maker, principal, shippedPolicy, worldOf } from '../../test/support/gate-fixtures.ts';
import { evaluateGate } from './evaluate.ts';
import { decideByPrecedence, PRECEDENCE } from './precedence.ts';
import { REASONS } from './reasons.ts';

const policy: Partial<GatePolicy> = {
  humans: [{ role: 'operator', min: 1, selfReview: false }],
  mapping: { ...shippedPolicy('merge').mapping, securityFailure: 'human_required', definitionChanged: 'blocked' },
};

/** What each case comes to under that policy. */
const OUTCOME: Readonly<Record<GateCase, GateDecisionWord>> = {
  integrity: 'blocked',
  hard_failure: 'rework',
  security_failure: 'human_required',
  contradiction: 'human_required',
  open_blocker: 'rework',
  missing: 'blocked',
  inconclusive: 'human_required',
  definition_changed: 'blocked',
  human_absent: 'human_required',
};

/** Evidence that hits exactly these cases (a contradiction brings the failure that it is about). */
function decideWith(cases: ReadonlySet<GateCase>) {
  const make = new Maker(worldOf('merge', { policy }));
  const changed = { path: 'package.json', baseDigest: null, headDigest: make.world.subject.objective.digest };
  const records: EvidenceRecord[] = [
    make.check('tests', 'passed', cases.has('definition_changed') ? { definitions: [changed] } : {}),
    make.run('reviewer'),
  ];
  const items: EvidenceItem[] = [];
  if (!cases.has('missing'))
    records.push(make.check('candidate-bound', cases.has('hard_failure') ? 'failed' : 'passed'));
  else if (cases.has('hard_failure')) records.push(make.check('tests', 'failed'));
  if (!cases.has('human_absent')) records.push(make.human());
  if (cases.has('security_failure')) records.push(make.finding({ type: 'security' }));
  if (cases.has('open_blocker')) records.push(make.finding());
  if (cases.has('contradiction')) records.push(make.run('reviewer', { 'login-works': 'failed' }));
  if (cases.has('inconclusive')) records.push(make.run('reviewer', { 'login-works': 'inconclusive' }));
  if (cases.has('integrity')) items.push({ digest: digestOf('evidence', 'gone'), record: null, problem: 'missing' });
  return evaluateGate(inputOf(make.world, records, items));
}

test('none of the cases is a pass', () => expect(decideWith(new Set()).decision).toBe('pass'));

const pairs = GATE_CASES.flatMap((first, index) => GATE_CASES.slice(index).map((second) => [first, second] as const));

test.each(pairs)('[inv-02] %s with %s: the first decides and both are recorded', (first, second) => {
  const { decision, reasons } = decideWith(new Set([first, second]));
  expect(decision).toBe(OUTCOME[first]);
  const recorded = new Set(reasons.map((reason) => reason.case));
  expect(recorded.has(first) && recorded.has(second)).toBe(true);
});

describe('the table', () => {
  test('has the cases in the order and with the numbers of the specification', () => {
    expect(GATE_CASES.map((name) => PRECEDENCE[name].number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('[inv-02] leads to pass from nothing', () => {
    expect(Object.values(PRECEDENCE).flatMap((row) => row.outcomes)).not.toContain('pass');
    expect(Object.values(REASONS).map((row) => row.outcome)).not.toContain('pass');
    expect(decideByPrecedence([])).toBe('pass');
  });

  test('lets people override cases 4, 5, 7 and 8 and no other', () => {
    const overridable = GATE_CASES.filter((name) => PRECEDENCE[name].overridable);
    expect(overridable).toEqual([...OVERRIDABLE_CASES]);
    expect(overridable.map((name) => PRECEDENCE[name].number)).toEqual([4, 5, 7, 8]);
  });

  test('takes the strictest outcome within a case', () => {
    const hit = (outcome: 'rework' | 'human_required' | 'blocked') => ({ case: 'inconclusive', outcome }) as const;
    expect(decideByPrecedence([hit('human_required'), hit('blocked')])).toBe('blocked');
    expect(decideByPrecedence([hit('rework'), hit('human_required')])).toBe('human_required');
  });

  test('every reason says what to do, and its sentence names what it is about', () => {
    for (const [code, row] of Object.entries(REASONS)) {
      expect(row.sentence, code).toContain('{ref}');
      expect(row.mend.length, code).toBeGreaterThan(10);
    }
  });
});

describe('found by the properties', () => {
  const overrides = OVERRIDABLE_CASES.map((name) => ({ case: name, role: 'operator', min: 1 }));

  test('a verifier that fits two seats sits where a seat has to be filled', () => {
    const make = new Maker(
      worldOf('segment', {
        policy: {
          overrides,
          verifierClasses: [
            { class: 'reviewer', min: 2 },
            { class: 'security', min: 1 },
          ],
        },
      }),
    );
    const by = (id: string, as: string) => ({ verifier: { principal: principal(id), class: as } });
    const records = [
      make.check('tests'),
      make.run('reviewer', {}, by('one', 'reviewer')),
      make.run('reviewer', {}, by('both', 'reviewer')),
      make.run('security', {}, by('both', 'security')),
      make.run('reviewer', {}, { ...by('gone', 'reviewer'), outcome: { state: 'unavailable', reason: 'timeout' } }),
      make.human({ decision: 'override', case: 'inconclusive' }),
    ];
    const withBoth = evaluateGate(inputOf(make.world, records));
    const without = evaluateGate(
      inputOf(
        make.world,
        records.filter((_, index) => index !== 2),
      ),
    );
    expect([withBoth.decision, without.decision]).toEqual(['pass', 'pass']);
  });

  test('whoever overrides a failure accepts the contradiction about it, and not the other way round', () => {
    const make = new Maker(worldOf('segment', { policy: { overrides } }));
    const evidence = [...make.clean(), make.run('reviewer', { 'login-works': 'failed' })];
    const withOverride = (name: (typeof OVERRIDABLE_CASES)[number]) =>
      evaluateGate(inputOf(make.world, [...evidence, make.human({ decision: 'override', case: name })]));
    expect(withOverride('open_blocker').decision).toBe('pass');
    expect(withOverride('open_blocker').reasons.every((reason) => reason.overridden)).toBe(true);
    expect(withOverride('contradiction').decision).toBe('rework');
  });
});

test('an evaluator that fails on its input blocks, and names the failure', () => {
  const make = new Maker(worldOf('segment'));
  const input = inputOf(make.world, make.clean());
  const broken = {
    ...input,
    subject: { ...input.subject, record: { ...input.subject.record, criteria: null as never } },
  };
  expect(evaluateGate(broken)).toMatchObject({
    decision: 'blocked',
    reasons: [{ case: 'integrity', code: 'evaluator_error', ref: 'TypeError' }],
  });
});
