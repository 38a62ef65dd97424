/** The gate's evaluator beside the same merge policy in Rego, run by OPA; and how it grows with the evidence. */
import { evaluateGate, type Evaluation } from '../policies/gates/evaluate.ts';
import { EVALUATOR_VERSION } from '../policies/gates/input.ts';
import { REASONS } from '../policies/gates/reasons.ts';
import { GATE_CASES } from '../schemas/gate/vocabulary.ts';
import { shippedPolicy } from '../test/support/gate-fixtures.ts';
import type { Comparison, Timing } from './support/compare.ts';
import { CRITERIA, SCENARIOS, gateInputOf, type Scenario } from './support/gate-inputs.ts';
import { startOpa, type Opa, type OpaAnswer } from './support/opa.ts';
import { timesOf } from './support/processor.ts';
import { progress } from './support/progress.ts';
import { milliseconds, type Bench, type BenchReport } from './support/report.ts';
import { growthExponent, summarise } from './support/statistics.ts';

const ITEMS = 500;
const GROWTH = [250, 500, 1000, 2000, 4000];
const GOAL_P99_MS = 2;
/** Above this the growth is called worse than linear: halfway from linear to n·√n. */
const LINEAR_UP_TO = 1.25;
/** Batches of each side that count, and the calls in one. OPA's are fewer as each takes some hundred times longer. */
const BATCHES = 6;
const CALLS = { ours: 200, opa: 5 } as const;

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
    const scenarios: ScenarioTimes[] = [];
    for (const scenario of SCENARIOS) scenarios.push(await besideOpa(opa, scenario));
    const { version } = await opa.evaluate('pass', 1);
    const growth = GROWTH.map(growthAt);
    const exponent = growthExponent(growth.map(({ items, processor }) => ({ x: items, y: processor.ms.median })));
    return {
      comparisons: scenarios.flatMap(({ wall, processor }) => [wall, processor]),
      timings: growth.map(({ processor }) => processor),
      goals: goals(scenarios, exponent),
      facts: {
        'OPA version': version,
        'same decision and reasons from both': true,
        'growth exponent': Number(exponent.toFixed(3)),
        'microseconds an item, by size': growth
          .map(({ items, processor }) => `${items}: ${((processor.ms.median * 1000) / items).toFixed(2)}`)
          .join(', '),
      },
    };
  } finally {
    await opa.close();
  }
}

interface ScenarioTimes {
  readonly wall: Comparison;
  readonly processor: Comparison;
}

/** Batches of ours and of OPA's in turn; the first of each warms up and is not counted. */
async function besideOpa(opa: Opa, scenario: Scenario): Promise<ScenarioTimes> {
  const input = gateInputOf(scenario, ITEMS);
  await opa.give(scenario, input);
  const batches: { ours: ReturnType<typeof timesOf>; opa: OpaAnswer }[] = [];
  for (let batch = 0; batch <= BATCHES; batch += 1) {
    const answer = await opa.evaluate(scenario, CALLS.opa);
    agree(scenario, evaluateGate(input), answer);
    const ours = timesOf(() => evaluateGate(input), CALLS.ours);
    if (batch > 0) batches.push({ ours, opa: answer });
    progress(`${scenario}: batch ${batch} of ${BATCHES}`);
  }
  const comparison = (clock: 'wall' | 'processor', name: string): Comparison => ({
    name: `${scenario}, ${name}`,
    ours: { name: 'portcullis', ms: summarise(batches.flatMap(({ ours }) => ours[clock])) },
    peer: { name: 'OPA', ms: summarise(batches.flatMap((batch) => batch.opa[clock])) },
    ratio: summarise(batches.map((batch) => summarise(batch.ours[clock]).median / summarise(batch.opa[clock]).median)),
  });
  return { wall: comparison('wall', 'wall clock'), processor: comparison('processor', 'on the processor') };
}

/** @throws when the two say anything different: then the times compare nothing. */
function agree(scenario: Scenario, { decision, reasons }: Evaluation, { evaluation }: OpaAnswer): void {
  const line = (reason: { code: string; ref: string; overridden: boolean }) =>
    `${reason.code} ${reason.ref} ${reason.overridden}`;
  const ours = [decision, ...reasons.map(line).sort()].join('\n');
  const theirs = [evaluation.decision, ...evaluation.reasons.map(line).sort()].join('\n');
  if (ours !== theirs) throw new Error(`${scenario}: ours says\n${ours}\nand OPA says\n${theirs}`);
  const expected = scenario === 'overridden' ? 'pass' : scenario;
  if (decision !== expected) throw new Error(`${scenario}: both decide ${decision} instead of ${expected}:\n${ours}`);
}

function growthAt(items: number): { readonly items: number; readonly processor: Timing } {
  const input = gateInputOf('pass', items);
  timesOf(() => evaluateGate(input), 50);
  const { processor } = timesOf(() => evaluateGate(input), 300);
  progress(`growth: ${items} items`);
  return { items, processor: { name: `pass at ${items} items, on the processor`, ms: summarise(processor) } };
}

function goals(scenarios: readonly ScenarioTimes[], exponent: number): BenchReport['goals'] {
  const worst = (clock: 'wall' | 'processor') => Math.max(...scenarios.map((times) => times[clock].ours.ms.p99));
  const [processor, wall] = [worst('processor'), worst('wall')];
  return [
    {
      goal: `p99 under ${GOAL_P99_MS} ms at ${CRITERIA} criteria and ${ITEMS} items, whatever the decision`,
      measured: `${milliseconds(wall)} ms by the wall clock; ${milliseconds(processor)} ms on the processor`,
      met: wall < GOAL_P99_MS,
    },
    {
      goal: `linear up to ${Math.max(...GROWTH)} items (exponent at most ${LINEAR_UP_TO})`,
      measured: exponent.toFixed(2),
      met: exponent <= LINEAR_UP_TO,
    },
  ];
}
