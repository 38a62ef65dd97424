/** Gate inputs of a given size for the shipped merge policy: every kind of record, bound to one subject of 100 criteria. */
import type { GateInput } from '../../policies/gates/input.ts';
import type { CheckResult } from '../../schemas/gate/check.ts';
import { evidenceItem, type EvidenceItem, type EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import { findingDigest, type Finding } from '../../schemas/gate/finding.ts';
import { AS_OF, MINUTE, Maker, inputOf, worldOf, type World } from '../../test/support/gate-fixtures.ts';

export const CRITERIA = 100;
const PRIOR_BLOCKERS = 25;
/** The run whose dispositions answer the earlier blockers. */
const ANSWERING = 'run-answering';

/** What decides the input; each decision of the gate is there. */
export const SCENARIOS = ['pass', 'rework', 'blocked', 'human_required', 'overridden'] as const;
export type Scenario = (typeof SCENARIOS)[number];

/**
 * An input of exactly this many evidence items, at least 100: a fifth results of checks, a fifth their attempts, one in
 * twenty verification runs with a row for each criterion, a fifth dispositions, the rest advisory findings and approvals.
 */
export function gateInputOf(scenario: Scenario, items: number): GateInput {
  const blockers = priorBlockers();
  const world = mergeWorld(blockers);
  const make = new Maker(world);
  const deciding = decidingRecords(scenario, make);
  const records: EvidenceRecord[] = [
    make.check('candidate-bound'),
    ...world.policy.verifierClasses.map((rule) => make.run(rule.class)),
    make.run('security', {}, { runId: ANSWERING }),
    ...blockers.map((blocker) => make.disposition(blocker, 'resolved', { runId: ANSWERING })),
    ...deciding.records,
  ];
  const results = fill(items / 5, () => make.check('tests'));
  records.push(...results, ...results.map((result) => attemptOf(make, result)));
  records.push(...fill(items / 20, (n) => make.run(n % 2 === 0 ? 'reviewer' : 'security')));
  records.push(
    ...fill(items / 5, (n) => make.disposition(blockerAt(blockers, n), 'resolved', { runId: ANSWERING })),
    ...fill(items / 20, () => make.human()),
  );
  const rest = items - records.length - deciding.items.length;
  records.push(...fill(rest, () => make.finding({ standing: 'advisory' })));
  const input = inputOf(world, records, deciding.items);
  if (input.evidence.items.length !== items) {
    throw new Error(`wanted ${items} items and made ${input.evidence.items.length}`);
  }
  return input;
}

/** What turns the clean input into the scenario. */
function decidingRecords(
  scenario: Scenario,
  make: Maker,
): { readonly records: readonly EvidenceRecord[]; readonly items: readonly EvidenceItem[] } {
  const inconclusive = () => make.run('reviewer', { 'criterion-7': 'inconclusive' });
  switch (scenario) {
    case 'pass':
      return { records: [], items: [] };
    case 'rework':
      return { records: [make.check('tests', 'failed')], items: [] };
    case 'blocked':
      return { records: [], items: [{ digest: evidenceItem(make.human()).digest, record: null, problem: 'missing' }] };
    case 'human_required':
      return { records: [inconclusive(), make.run('reviewer', { 'criterion-3': 'failed' })], items: [] };
    case 'overridden':
      return { records: [inconclusive(), make.human({ decision: 'override', case: 'inconclusive' })], items: [] };
  }
}

function mergeWorld(blockers: readonly Finding[]): World {
  const { subject } = worldOf('merge');
  return worldOf('merge', {
    subject: {
      risk: { class: 'moderate', securityRequirementRevision: 1 },
      criteria: {
        ...subject.criteria,
        items: fill(CRITERIA, (n) => ({
          criterionId: `criterion-${n}`,
          revision: 1,
          required: true,
          methods: ['deterministic', 'model'],
        })),
      },
      priorBlockers: blockers.map((blocker) => ({ findingId: blocker.findingId, digest: findingDigest(blocker) })),
    },
  });
}

/** Raised on an earlier subject, so they are not among the evidence of this one. */
function priorBlockers(): readonly Finding[] {
  const earlier = new Maker(worldOf('merge', { subject: { stateRevision: 1 } }));
  return fill(PRIOR_BLOCKERS, (n) => earlier.finding({ findingId: `prior-${n}`, observedAt: AS_OF - 90 * MINUTE }));
}

function blockerAt(blockers: readonly Finding[], n: number): Finding {
  const blocker = blockers[n % blockers.length];
  if (blocker === undefined) throw new Error('there is no prior blocker');
  return blocker;
}

function attemptOf(make: Maker, { checkId, attempt }: CheckResult): EvidenceRecord {
  return make.attempt(checkId, { attempt });
}

function fill<T>(times: number, one: (n: number) => T): readonly T[] {
  return Array.from({ length: Math.max(0, Math.floor(times)) }, (_, n) => one(n));
}
