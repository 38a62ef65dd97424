/** bun: its JUnit report, borne out by the last line that it prints on stderr. */
import type { Tally } from './counter.ts';
import type { PrintedSummary } from './printed-summary.ts';
import { xmlCount } from './xml-count.ts';

export function countBunReport(report: string): Tally | 'unknown' {
  const roots = [...report.matchAll(/<testsuites\s([^>]*)>/g)];
  const [root] = roots;
  if (roots.length !== 1 || root === undefined || !report.trimEnd().endsWith('</testsuites>')) return 'unknown';
  const attributes = root[1] ?? '';
  const tests = xmlCount(attributes, 'tests');
  const failed = xmlCount(attributes, 'failures');
  const skipped = xmlCount(attributes, 'skipped');
  if (tests === null || failed === null || skipped === null) return 'unknown';
  if ((report.match(/<testcase\s/g)?.length ?? 0) !== tests) return 'unknown';
  const passed = tests - failed - skipped;
  return passed < 0 ? 'unknown' : { passed, failed, skipped };
}

const RAN = /^Ran (\d{1,9}) tests? across \d{1,9} files?\./;

/** Exactly one line `Ran 3 tests across 1 file.`, and of as many tests. */
export function printedByBun(): PrintedSummary<Tally> {
  const totals: number[] = [];
  return {
    line(stream, line) {
      const match = stream === 'stderr' ? RAN.exec(line) : null;
      if (match !== null) totals.push(Number(match[1]));
    },
    agrees: ({ passed, failed, skipped }) => totals.length === 1 && totals[0] === passed + failed + skipped,
  };
}
