/**
 * Random evidence sets for the gate, cheap enough for hundreds of thousands: every record is made and hashed once, and a vector
 * is a choice among them. Each world has evidence for and against it, so that passing and nearly passing are both common.
 */
import { digestOf } from '../../schemas/digest.ts';
import { evidenceItem, type EvidenceItem, type EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import { findingDigest } from '../../schemas/gate/finding.ts';
import type { GatePolicy } from '../../schemas/gate/policy.ts';
import type { CriterionStatus, GateKind } from '../../schemas/gate/vocabulary.ts';
import type { GateInput } from '../../policies/gates/input.ts';
import { AS_OF, bytesOf, inputOf, Maker, MINUTE, principal, shippedPolicy, worldOf } from './gate-fixtures.ts';
import type { WorldChanges } from './gate-fixtures.ts';

/** A generator of numbers in [0, 1) that gives the same ones for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface VectorWorld {
  readonly input: GateInput;
  /** Speaks for the subject, and is whole: bound, readable, in time. */
  readonly positive: readonly EvidenceItem[];
  /** Approvals and overrides: positive too, and drawn less often. */
  readonly people: readonly EvidenceItem[];
  /** Speaks against it, or says nothing; observed before any person decided. */
  readonly early: readonly EvidenceItem[];
  /** The same, observed after every person decided. */
  readonly late: readonly EvidenceItem[];
}

const segment = shippedPolicy('segment');
const HIGH = { risk: { class: 'high', securityRequirementRevision: 1 } } as const;
const OVERRIDES: GatePolicy['overrides'] = (
  ['contradiction', 'open_blocker', 'inconclusive', 'definition_changed'] as const
).map((name) => ({ case: name, role: 'operator', min: 1 }));

const earlier = new Maker(worldOf('segment', { subject: { stateRevision: 11 } })).finding({ findingId: 'prior' });
const priorBlockers = [{ findingId: earlier.findingId, digest: findingDigest(earlier) }];

function timed(): WorldChanges {
  const requiredChecks = worldOf('merge').subject.requiredChecks.map((check, index) =>
    index === 0 ? { ...check, timeSensitive: true, horizonSeconds: 3600 } : check,
  );
  return { subject: { requiredChecks } };
}

/** Gates, policies, risk classes, overrides, horizons and prior blockers in combination. */
export const VECTOR_WORLDS: readonly VectorWorld[] = [
  world('segment', {}),
  world('plan', {}),
  world('operation', { subject: HIGH }),
  world('merge', { ...timed(), policy: { overrides: OVERRIDES } }),
  world('segment', { policy: { overrides: OVERRIDES }, subject: { priorBlockers } }),
  world('segment', { policy: { overrides: OVERRIDES.map((rule) => ({ ...rule, min: 2 })) }, subject: HIGH }),
  world('segment', {
    subject: { ...HIGH, priorBlockers },
    policy: {
      overrides: OVERRIDES,
      humans: [
        { role: 'operator', min: 2, selfReview: false },
        { role: 'owner', min: 1, selfReview: true },
      ],
      verifierClasses: [
        { class: 'reviewer', min: 2 },
        { class: 'security', min: 1 },
      ],
      requiredChecks: segment.requiredChecks.map((rule) => ({ ...rule, definitionsUnchanged: true, maxUnanswered: 1 })),
    },
  }),
];

function world(gate: GateKind, changes: WorldChanges): VectorWorld {
  const made = worldOf(gate, changes);
  const make = new Maker(made);
  const peopleAt = AS_OF - 10 * MINUTE;
  const items = (records: readonly EvidenceRecord[]) => records.map(evidenceItem);
  return {
    input: inputOf(made, []),
    positive: items(positive(make)),
    people: items(people(make, peopleAt)),
    early: [...items(against(make, peopleAt - 5 * MINUTE)), ...unreadable(0)],
    late: [...items(against(make, peopleAt + 5 * MINUTE)), ...unreadable(1)],
  };
}

function positive(make: Maker): readonly EvidenceRecord[] {
  const { subject } = make.world;
  const p = (id: string, as: string) => ({ verifier: { principal: principal(id), class: as } });
  const runs = [
    make.run('reviewer', {}, { ...p('rev-1', 'reviewer') }),
    make.run('reviewer', {}, { ...p('rev-2', 'reviewer') }),
    make.run('reviewer', {}, { ...p('both', 'reviewer') }),
    make.run('security', {}, { ...p('both', 'security') }),
    make.run('security', {}, { ...p('sec-1', 'security') }),
    make.run('deterministic', {}, { ...p('det-1', 'deterministic') }),
  ];
  return [
    ...subject.requiredChecks.flatMap((check) => [
      make.check(check.checkId),
      make.check(check.checkId, 'passed', { observedAt: AS_OF - 50 * MINUTE }),
    ]),
    ...runs,
    ...subject.priorBlockers.flatMap(() => [
      make.disposition(earlier, 'resolved', { runId: runs[0]?.runId ?? '' }),
      make.disposition(earlier, 'superseded_by_subject_change', { runId: runs[1]?.runId ?? '' }),
    ]),
  ];
}

function people(make: Maker, at: number): readonly EvidenceRecord[] {
  const by = (id: string, role = 'operator') => ({ principal: principal(id), role, observedAt: at });
  return [
    make.human(by('ada')),
    make.human(by('grace')),
    make.human(by('both')),
    make.human({ ...by('ada', 'owner'), expiresAt: AS_OF + 60 * MINUTE }),
    make.human({ ...by('forge-1', 'owner'), selfReview: true }),
    ...OVERRIDES.flatMap((rule) => [
      make.human({ ...by('ada'), decision: 'override', case: rule.case }),
      make.human({ ...by('grace'), decision: 'override', case: rule.case }),
    ]),
  ];
}

/** Evidence against the subject, and evidence that says nothing: neither may ever help it. */
function against(make: Maker, observedAt: number): readonly EvidenceRecord[] {
  const { subject } = make.world;
  const [criterion] = subject.criteria.items;
  const [check] = subject.requiredChecks;
  if (criterion === undefined || check === undefined) throw new Error('The world has nothing to judge.');
  const tests = check.checkId;
  // A row that passes would be evidence for it: the other criteria are not tested.
  const only = (status: CriterionStatus) => ({
    ...Object.fromEntries(subject.criteria.items.map((item) => [item.criterionId, 'not_tested' as const])),
    [criterion.criterionId]: status,
  });
  const by = (id: string, as: string) => ({ observedAt, verifier: { principal: principal(id), class: as } });
  return [
    make.check(tests, 'failed', { observedAt }),
    make.check(tests, 'failed', { observedAt, attestation: 'producer' }),
    make.check(tests, 'inconclusive', { observedAt, unavailable: 'executor_unavailable' }),
    make.check(tests, 'inconclusive', { observedAt }),
    make.check(tests, 'not_tested', { observedAt }),
    make.attempt(tests, { openedAt: observedAt }),
    make.run('reviewer', only('failed'), by('rev-9', 'reviewer')),
    make.run('security', only('failed'), by('sec-9', 'security')),
    make.run('reviewer', only('inconclusive'), by('rev-9', 'reviewer')),
    make.run('reviewer', only('not_tested'), by('rev-9', 'reviewer')),
    make.run('reviewer', {}, { ...by('rev-9', 'reviewer'), outcome: { state: 'unavailable', reason: 'timeout' } }),
    make.run('security', {}, { ...by('sec-9', 'security'), outcome: { state: 'refused', code: 'not_allowed' } }),
    make.finding({ observedAt }),
    make.finding({ observedAt, type: 'security' }),
    make.finding({ observedAt, standing: 'advisory' }),
    make.human({ observedAt, decision: 'reject', principal: principal('eve') }),
    ...subject.priorBlockers.flatMap(() => [
      make.disposition(earlier, 'still_present', { observedAt }),
      make.disposition(earlier, 'not_addressed', { observedAt }),
      make.disposition(earlier, 'human_required', { observedAt }),
    ]),
  ];
}

function unreadable(salt: number): readonly EvidenceItem[] {
  return (['missing', 'tampered', 'malformed'] as const).map((problem) => ({
    digest: digestOf('evidence', { problem, salt, of: bytesOf(problem) }),
    record: null,
    problem,
  }));
}

/** A vector: a world and what of its evidence is there. */
export interface Vector {
  readonly world: VectorWorld;
  readonly items: readonly EvidenceItem[];
}

/** Most of what speaks for it, some people, and seldom more than a little against it. */
export function drawVector(random: () => number): Vector {
  const world = pick(VECTOR_WORLDS, random);
  const keep = 0.6 + 0.4 * random();
  const people = random();
  const bad = random() < 0.4 ? 0 : random() * 0.12;
  return {
    world,
    items: [
      ...world.positive.filter(() => random() < keep),
      ...world.people.filter(() => random() < people),
      ...world.early.filter(() => random() < bad),
    ],
  };
}

export function pick<T>(from: readonly T[], random: () => number): T {
  const chosen = from[Math.floor(random() * from.length)];
  if (chosen === undefined) throw new Error('There is nothing to pick from.');
  return chosen;
}

export function withItems(world: VectorWorld, items: readonly EvidenceItem[]): GateInput {
  return { ...world.input, evidence: { ...world.input.evidence, items } };
}
