/**
 * `npm run chaos [-- --seed N] [--from N] [--tickets N] [--keep DIRECTORY]`: kill -9 of each process of the stack once in each phase of a
 * ticket. Eight tickets cover the matrix; pairs that came late are tried again in at most four more. Every ticket must end merged
 * with nothing lost. Exits 1 when something does not hold or a pair was never hit. `--keep`: where the stack's logs go then;
 * `--from`: with the same seed, goes on at this ticket of the square, counted from 0. Ctrl-C ends after the ticket under way.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { killsOf, VICTIMS, type PlannedKill } from './matrix.ts';
import { soak } from './soak.ts';
import { matrixLines, openCells } from './table.ts';
import type { Cell } from './ticket-run.ts';

const MORE_TICKETS = 4;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    from: { type: 'string', default: '0' },
    tickets: { type: 'string', default: String(VICTIMS.length) },
    keep: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Date.now() % 100_000);
const tickets = Number(values.tickets);
const from = Number(values.from);
const whole = from === 0 && tickets >= VICTIMS.length;
const interrupted = new AbortController();
process.once('SIGINT', () => {
  interrupted.abort();
});
const began = performance.now();
const say = (text: string) => {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}\n`);
};

/** First the square, then what is still open, as many phases of it in one ticket as there are. */
function next(n: number, cells: readonly Cell[]): readonly PlannedKill[] | null {
  const k = from + n;
  if (interrupted.signal.aborted) return null;
  if (k < tickets) return killsOf(k, seed);
  const open = openCells(cells);
  if (!whole || open.length === 0 || k >= tickets + MORE_TICKETS) return null;
  return killsOf(k, seed).flatMap(({ phase }) => {
    const victim = open.find((cell) => cell.phase === phase)?.victim;
    return victim === undefined ? [] : [{ phase, victim, delayMs: 0 }];
  });
}

say(`seed ${seed}`);
const report = await soak({
  next,
  say,
  onFault: ({ paths }) => {
    if (values.keep !== undefined) cpSync(paths.logs, join(values.keep, `logs-${seed}`), { recursive: true });
  },
});
const open = whole ? openCells(report.cells) : [];
process.stdout.write(
  [
    ...matrixLines(report.cells),
    '',
    `${report.tickets} tickets merged, seed ${seed}, ${((performance.now() - began) / 1000).toFixed(0)} s`,
    ...open.map(({ phase, victim }) => `never hit: ${victim} in ${phase}`),
    ...report.faults.map((fault) => `FAULT ${fault}`),
    '',
  ].join('\n'),
);
// A run without a ticket has shown nothing.
process.exitCode = report.tickets > 0 && open.length === 0 && report.faults.length === 0 ? 0 : 1;
