/**
 * Counts of what a test command really executed. Exit 0 is not evidence that tests ran (spec/delegated-verification.md
 * section 3): a counter that sees anything inconsistent, truncated or repeated answers `unknown`, never a guess.
 */
import type { CountParser } from '../../../schemas/verify/action.ts';
import type { OutputStream } from '../../../schemas/keys.ts';
import type { TestCounts } from '../../../schemas/verify/report.ts';
import { countBunReport, printedByBun } from './bun.ts';
import { cargoCounter } from './cargo.ts';
import { goCounter } from './go.ts';
import { countNodeReport } from './node-report.ts';
import { printedByNode, printedByPytest, type PrintedSummary } from './printed-summary.ts';
import { countJunit } from './pytest.ts';
import { jestCounter, vitestCounter } from './script-runners.ts';
import { runnerSummaryCounter } from './runner-summary.ts';

export type Counts = TestCounts | 'unknown';

/** What ended: the exit code and, where the tool writes one, the reporter's file. */
export interface CountEnding {
  readonly exitCode: number | null;
  /** Text of the reporter's file; `null` when there is none, or it was too large or no regular file. */
  readonly report: string | null;
}

/** Reads a command's output line by line and, at the end, says what was counted. */
export interface Counter {
  line(stream: OutputStream, line: string): void;
  /** The output was not seen whole (a line too long to look at). */
  lost(): void;
  finish(ending: CountEnding): Counts;
}

/** Where the tool of this parser writes its report, beside the checkout; `null` when it is read from stdout. */
export function reporterFile(parser: CountParser): string | null {
  switch (parser) {
    case 'node-test':
      return 'node-test.jsonl';
    case 'pytest':
      return 'pytest.xml';
    case 'bun-test':
      return 'bun.xml';
    case 'cargo-test':
    case 'go-test':
    case 'vitest':
    case 'jest':
    case 'runner-summary':
      return null;
  }
}

export function createCounter(parser: CountParser): Counter {
  switch (parser) {
    case 'node-test':
      return fromReport(countNodeReport, printedByNode());
    case 'pytest':
      return fromReport(countJunit, printedByPytest());
    case 'bun-test':
      return fromReport(countBunReport, printedByBun());
    case 'cargo-test':
      return fromOutput(cargoCounter());
    case 'go-test':
      return fromOutput(goCounter());
    case 'vitest':
      return fromOutput(vitestCounter());
    case 'jest':
      return fromOutput(jestCounter());
    case 'runner-summary':
      return fromOutput(runnerSummaryCounter());
  }
}

/** A reader of one tool's output. `null`: this tool has not reported at all. */
export interface OutputReader {
  line(stream: OutputStream, line: string): void;
  finish(): Tally | 'unknown' | null;
}

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

function fromReport<T extends Tally>(count: (report: string) => T | 'unknown', printed: PrintedSummary<T>): Counter {
  return {
    line: (stream, line) => printed.line(stream, stripColours(line)),
    // A line too long to look at is no line of a summary.
    lost() {},
    finish({ exitCode, report }) {
      const tally = report === null ? 'unknown' : count(report);
      return tally === 'unknown' || !printed.agrees(tally) ? 'unknown' : conclude(tally, exitCode, 'reporter_file');
    },
  };
}

function fromOutput(reader: OutputReader): Counter {
  let whole = true;
  return {
    line: (stream, line) => reader.line(stream, stripColours(line)),
    lost: () => {
      whole = false;
    },
    finish: ({ exitCode }) => (whole ? conclude(reader.finish() ?? 'unknown', exitCode, 'stdout') : 'unknown'),
  };
}

function conclude(tally: Tally | 'unknown', exitCode: number | null, provenance: TestCounts['provenance']): Counts {
  if (tally === 'unknown') return 'unknown';
  // A runner that saw a failure does not end with 0: somebody else chose that exit code, or wrote that report.
  if (tally.failed > 0 && exitCode === 0) return 'unknown';
  const { passed, failed, skipped } = tally;
  return { executed: passed + failed, passed, failed, skipped, provenance };
}

function stripColours(line: string): string {
  return line.includes(ESCAPE) ? line.replace(COLOUR, '') : line;
}

const ESCAPE = String.fromCharCode(27);
const COLOUR = new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g');
