/**
 * `npm test`, `make test`: the repository chooses the runner, so every known summary is looked for. Exactly one runner may
 * have reported; a program that prints another runner's summary makes the count unknown and never raises it.
 */
import { cargoCounter } from './cargo.ts';
import type { OutputReader } from './counter.ts';
import { nodeSummary } from './node-summary.ts';
import { pytestSummary } from './pytest.ts';
import { jestCounter, vitestCounter } from './script-runners.ts';

/** How a line begins that any of the readers could want. Commands print millions of others. */
const WANTED = /^(?:[ℹ#✔=]|ok |test |running |\s*(?:Tests|Running|Doc-tests))/;

export function runnerSummaryCounter(): OutputReader {
  const readers = [nodeSummary(), vitestCounter(), jestCounter(), pytestSummary(), cargoCounter()];
  let afterWanted = false;
  return {
    line: (stream, line) => {
      const wanted = WANTED.test(line);
      // The first line after a wanted one is passed on as well: it may cut a summary in two.
      if (wanted || afterWanted) for (const reader of readers) reader.line(stream, line);
      afterWanted = wanted;
    },
    finish: () => {
      const reports = readers.map((reader) => reader.finish()).filter((report) => report !== null);
      return reports.length > 1 ? 'unknown' : (reports[0] ?? null);
    },
  };
}
