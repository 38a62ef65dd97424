/** The gate's evaluator beside the same merge policy in Rego, run by OPA; and how it grows with the evidence. */
import { evaluateGate, type Evaluation } from '../policies/gates/evaluate.ts';
import { EVALUATOR_VERSION } from '../policies/gates/input.ts';
import { REASONS } from '../policies/gates/reasons.ts';
import { GATE_CASES } from '../schemas/gate/vocabulary.ts';
import { shippedPolicy } from '../test/support/gate-fixtures.ts';
import { time, type Comparison, type Timing } from './support/compare.ts';
import { CRITERIA, SCENARIOS, gateInputOf, type Scenario } from './support/gate-inputs.ts';
import { startOpa, type Opa, type OpaAnswer } from './support/opa.ts';
import { progress } from './support/progress.ts';
import { milliseconds, type Bench, type BenchReport } from './support/report.ts';
import { growthExponent, summarise } from './support/statistics.ts';

const ITEMS = 500;
const GROWTH = [250, 500, 1000, 2000, 4000];
const GOAL_P99_MS = 2;
/** Above this the growth is called worse than linear: the middle between linear and n·√n. */
const LINEAR_UP_TO = 1.25;

export const gateBench: Bench = {
  name: 'gate',
  about: `evaluator at ${CRITERIA} criteria and ${ITEMS} evidence items, beside the same policy in Rego run by OPA`,
  run,
};

async function run(): Promise<BenchReport> {
  const opa = await startOpa({
    policy: shippedPolicy('merge'),
    reasons: REASONS,
    cases: GATE_CASES,
    evaluatorVersion: EVALUATOR_VERSION,
  });
  try {
    const comparisons: Comparison[] = [];
    for (const scenario of SCENARIOS) comparisons.push(await besideOpa(opa, scenario));
    const growth = await growthOf();
    const { version } = await opa.evaluate('pass', 1);
    return { ...growth, comparisons, goals: goals(comparisons, growth.exponent), facts: facts(growth, version) };
  } finally {
    await opa.close();
  }
}

/** Batches of ours and of OPA's in turn; the first batch of each warms up and is not counted. */
async function besideOpa(opa: Opa, scenario: Scenario): Promise<Comparison> {
  const input = gateInputOf(scenario, ITEMS);
  await opa.give(scenario, input);
  const ours: number[] = [];
  const theirs: number[] = [];
  const ratios: number[] = [];
  for (let batch = 0; batch <= 10; batch += 1) {
    const answer = await opa.evaluate(scenario, 10);
    agree(scenario, evaluateGate(input), answer);
    const mine = timesOf(() => evaluateGate(input), 200);
    if (batch === 0) continue;
    ours.push(...mine);
    theirs.push(...answer.milliseconds);
    ratios.push(summarise(mine).median / summarise(answer.milliseconds).median);
  }
  progress(`${scenario}: both decide ${evaluateGate(input).decision} for the same reasons`);
  return {
    name: `${scenario}: ${CRITERIA} criteria, ${ITEMS} items`,
    ours: { name: 'portcullis', ms: summarise(ours) },
    peer: { name: 'OPA', ms: summarise(theirs) },
    ratio: summarise(ratios),
  };
}

/** Milliseconds of each call. */
function timesOf(call: () => Evaluation, times: number): readonly number[] {
  return Array.from({ length: times }, () => {
    const start = performance.now();
    call();
    return performance.now() - start;
  });
}

/** @throws when the two say anything different: then the times compare nothing. */
function agree(scenario: Scenario, { decision, reasons }: Evaluation, { evaluation }: OpaAnswer): void {
  const line = (reason: { code: string; ref: string; overridden: boolean }) =>
    `${reason.code} ${reason.ref} ${reason.overridden}`;
  const ours = [decision, ...reasons.map(line).sort()].join('\n');
  const theirs = [evaluation.decision, ...evaluation.reasons.map(line).sort()].join('\n');
  if (ours !== theirs) throw new Error(`${scenario}: ours says\n${ours}\nand OPA says\n${theirs}`);
}

interface Growth {
  readonly timings: readonly Timing[];
  readonly exponent: number;
}

async function growthOf(): Promise<Growth> {
  const timings: Timing[] = [];
  for (const items of GROWTH) {
    const input = gateInputOf('pass', items);
    timings.push(await time({ name: `${items} items`, run: () => evaluateGate(input) }, { rounds: 300, warmUp: 100 }));
  }
  const points = timings.map(({ ms }, index) => ({ x: GROWTH[index] ?? Number.NaN, y: ms.median }));
  return { timings, exponent: growthExponent(points) };
}

function goals(comparisons: readonly Comparison[], exponent: number): BenchReport['goals'] {
  const slowest = Math.max(...comparisons.map(({ ours }) => ours.ms.p99));
  return [
    {
      goal: `p99 under ${GOAL_P99_MS} ms at ${CRITERIA} criteria and ${ITEMS} items, in every scenario`,
      measured: `${milliseconds(slowest)} ms`,
      met: slowest < GOAL_P99_MS,
    },
    {
      goal: `linear up to ${Math.max(...GROWTH)} items (exponent at most ${LINEAR_UP_TO})`,
      measured: exponent.toFixed(2),
      met: exponent <= LINEAR_UP_TO,
    },
  ];
}

function facts({ timings, exponent }: Growth, opaVersion: string): BenchReport['facts'] {
  const perItem = timings.map(({ ms }, index) => (ms.median * 1000) / (GROWTH[index] ?? Number.NaN));
  return {
    'OPA version': opaVersion,
    'same decision and reasons from both': true,
    'growth exponent': exponent,
    'µs an item, by size': perItem.map((us) => us.toFixed(2)).join(' '),
  };
}
