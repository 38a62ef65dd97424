/**
 * What a runner printed beside its report. The code under test runs as the same user as its runner and could write the
 * report's file, so the two must say the same: whoever writes the file alone is found out by the summary, and whoever prints
 * a summary as well makes two of them (docs/security/threat-model.md, "What remains").
 */
import type { OutputStream } from '../../../schemas/keys.ts';
import type { Tally } from './counter.ts';
import type { NodeTally } from './node-report.ts';
import { pytestTally } from './pytest.ts';

/** Reads the output on the way and, at the end, says whether it bears a report out. */
export interface PrintedSummary<T extends Tally> {
  line(stream: OutputStream, line: string): void;
  agrees(report: T): boolean;
}

const NODE_FIELDS = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo', 'duration_ms'] as const;
const NODE_LINE = /(?:ℹ|#) (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (\d{1,9})(?:\.\d+)?$/;

/** `node --test`: exactly one whole summary, and of the same numbers. Stray lines of another are output like any other. */
export function printedByNode(): PrintedSummary<NodeTally> {
  const summaries: (readonly number[])[] = [];
  let values: number[] = [];
  return {
    line(stream, line) {
      if (stream !== 'stdout') return;
      const match = NODE_LINE.exec(line);
      const [, field] = match ?? [];
      // Only its first line may have text before it: what a test printed last, without an end of line.
      if (match === null || (match.index > 0 && field !== 'tests')) {
        values = [];
        return;
      }
      if (field !== NODE_FIELDS[values.length]) values = [];
      if (field !== NODE_FIELDS[values.length]) return;
      values.push(Number(match[2]));
      if (values.length < NODE_FIELDS.length) return;
      summaries.push(values);
      values = [];
    },
    agrees({ passed, failed, skipped, placeholders }) {
      const [summary, second] = summaries;
      if (summary === undefined || second !== undefined) return false;
      const [tests = 0, , pass = 0, fail = 0, cancelled = 0, skip = 0, todo = 0] = summary;
      return (
        tests === passed + failed + skipped + placeholders &&
        pass === passed + placeholders &&
        fail + cancelled === failed &&
        skip + todo === skipped
      );
    },
  };
}

/**
 * pytest: no summary that says otherwise, and not two. A project's options (`-qq`) may leave it out altogether. Where a
 * teardown failed, reports differ by version on whether the test itself passed; what failed is the same.
 */
export function printedByPytest(): PrintedSummary<Tally> {
  const summaries: Tally[] = [];
  return {
    line(stream, line) {
      const tally = stream === 'stdout' ? pytestTally(line) : null;
      if (tally !== null && tally !== 'unknown') summaries.push(tally);
    },
    agrees({ passed, failed, skipped }) {
      const [summary, second] = summaries;
      if (summary === undefined) return true;
      if (second !== undefined || summary.failed !== failed || summary.skipped !== skipped) return false;
      return failed === 0 ? summary.passed === passed : summary.passed >= passed;
    },
  };
}
