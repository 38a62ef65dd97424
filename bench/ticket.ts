/**
 * Tickets: the example beside the sum of its commands, many at bounded concurrency, many that wait. Real stacks, scripted agents in
 * real workspaces. `--rounds`, `--tickets` and `--waiting` say how many, `--minutes` how long the tickets may take in all. About
 * twenty minutes on two quiet processors.
 */
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { exampleTickets } from './ticket/example.ts';
import { manyTickets } from './ticket/many.ts';
import { openBenchStack, type BenchStack } from './ticket/stack.ts';
import { waitingTickets } from './ticket/waiting.ts';
import type { BenchOptions } from './support/options.ts';
import type { Bench, BenchReport } from './support/report.ts';
import { progress } from './support/progress.ts';

export const ticketBench: Bench = {
  name: 'ticket',
  about: 'the example ticket beside the sum of its commands, many tickets at once, many that wait',
  run,
};

async function run({ rounds, tickets, minutes, waiting }: BenchOptions): Promise<BenchReport> {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: 'OFF', forward: {} } },
  });
  // A stack each: what one leaves in its databases is no part of the next.
  const reports = [
    await withStack('the example ticket', (on) => exampleTickets(on, rounds)),
    await withStack(`${tickets} tickets`, (on) => manyTickets(on, tickets, minutes * 60_000)),
    await withStack(`${waiting} waiting tickets`, (on) => waitingTickets(on, waiting)),
  ];
  return {
    comparisons: reports.flatMap(({ comparisons }) => comparisons),
    timings: reports.flatMap(({ timings }) => timings),
    goals: reports.flatMap(({ goals }) => goals),
    facts: Object.assign({}, ...reports.map(({ facts }) => facts)) as BenchReport['facts'],
  };
}

/** A part that breaks off is a goal that was missed: the others are still measured. */
async function withStack(what: string, measure: (on: BenchStack) => Promise<BenchReport>): Promise<BenchReport> {
  progress(`${what}: a stack of its own starts`);
  try {
    const on = await openBenchStack();
    try {
      return await measure(on);
    } finally {
      await on.close();
    }
  } catch (thrown) {
    const measured = thrown instanceof Error ? thrown.message : String(thrown);
    return { comparisons: [], timings: [], goals: [{ goal: `${what}: measured`, measured, met: false }], facts: {} };
  }
}
