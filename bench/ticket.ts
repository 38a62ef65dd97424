/**
 * Tickets: the example beside the sum of its commands and many that wait (`ticket`), many at bounded concurrency (`tickets`). Real
 * stacks, scripted agents in real workspaces. `--rounds`, `--tickets` and `--waiting` say how many, `--minutes` how long the tickets may
 * take in all. About ten and twenty minutes on two quiet processors.
 */
import { exampleTickets } from './ticket/example.ts';
import { manyTickets } from './ticket/many.ts';
import { openBenchStack, type BenchStack } from './ticket/stack.ts';
import { waitingTickets } from './ticket/waiting.ts';
import type { Bench, BenchReport } from './support/report.ts';
import { progress } from './support/progress.ts';
import { quietRuntime } from './support/quiet-runtime.ts';

export const ticketBench: Bench = {
  name: 'ticket',
  about: 'the example ticket beside the sum of its commands, and many tickets that wait',
  run: ({ rounds, waiting }) =>
    parts(
      // A stack each: what one leaves in its databases is no part of the next.
      () => withStack('the example ticket', (on) => exampleTickets(on, rounds)),
      () => withStack(`${waiting} waiting tickets`, (on) => waitingTickets(on, waiting)),
    ),
};

export const ticketsBench: Bench = {
  name: 'tickets',
  about: 'many small tickets at bounded concurrency, to their end',
  run: ({ tickets, minutes }) =>
    parts(() => withStack(`${tickets} tickets`, (on) => manyTickets(on, tickets, minutes * 60_000))),
};

async function parts(...measures: readonly (() => Promise<BenchReport>)[]): Promise<BenchReport> {
  quietRuntime();
  const reports: BenchReport[] = [];
  for (const measure of measures) reports.push(await measure());
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
