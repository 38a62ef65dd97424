/**
 * `npm run bench [-- NAME… --tickets N]` (`bench/support/options.ts`): runs the benchmarks listed here, one after the other, and keeps
 * each report under `bench/results/`. Exits 1 when a goal is missed, 2 when a name is not listed or an option is wrong.
 */
import { a2aBench } from './a2a.ts';
import { digestBench } from './digest.ts';
import { gateBench } from './gate.ts';
import { sandboxBench } from './sandbox.ts';
import { streamingBench } from './streaming.ts';
import { ticketBench, ticketsBench } from './ticket.ts';
import { verifyBench } from './verify.ts';
import { verdictBench } from './verdict.ts';
import { readOptions, type BenchOptions } from './support/options.ts';
import { reportLines, writeReport, type Bench } from './support/report.ts';
import { progress } from './support/progress.ts';

const BENCHES: readonly Bench[] = [
  digestBench,
  gateBench,
  verdictBench,
  verifyBench,
  a2aBench,
  sandboxBench,
  streamingBench,
  ticketBench,
  ticketsBench,
];

async function main(words: readonly string[]): Promise<number> {
  let read: { readonly names: readonly string[]; readonly options: BenchOptions };
  try {
    read = readOptions(words);
  } catch (thrown) {
    process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    return 2;
  }
  const { names, options } = read;
  const unknown = names.filter((name) => !BENCHES.some((bench) => bench.name === name));
  if (unknown.length > 0) {
    process.stderr.write(`No benchmark is called ${unknown.join(', ')}. There are:\n`);
    BENCHES.forEach(({ name, about }) => process.stderr.write(`  ${name.padEnd(12)} ${about}\n`));
    return 2;
  }
  let missed = 0;
  for (const bench of BENCHES.filter(({ name }) => names.length === 0 || names.includes(name))) {
    progress(`${bench.name}: ${bench.about}`);
    const report = await bench.run(options);
    const path = await writeReport(bench.name, report);
    process.stdout.write(`${bench.name}: ${bench.about}\n${reportLines(report).join('\n')}\n`);
    progress(`${bench.name}: written to ${path}`);
    missed += report.goals.filter((goal) => !goal.met).length;
  }
  return missed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
// Everything is closed and written: what a library still holds open keeps nobody waiting.
setTimeout(() => process.exit(), 5_000).unref();
