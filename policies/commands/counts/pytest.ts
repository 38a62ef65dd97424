/** pytest: its JUnit report (`--junitxml` to a file outside the checkout), and its last line where only stdout is there. */
import type { OutputReader, Tally } from './counter.ts';
import { xmlCount } from './xml-count.ts';

export function countJunit(report: string): Tally | 'unknown' {
  const suites = [...report.matchAll(/<testsuite\s([^>]*)>/g)];
  const [suite] = suites;
  if (suites.length !== 1 || suite === undefined || !report.trimEnd().endsWith('</testsuites>')) return 'unknown';
  const attributes = suite[1] ?? '';
  const tests = xmlCount(attributes, 'tests');
  const failures = xmlCount(attributes, 'failures');
  const errors = xmlCount(attributes, 'errors');
  const skipped = xmlCount(attributes, 'skipped');
  if (tests === null || failures === null || errors === null || skipped === null) return 'unknown';
  const cases = report.match(/<testcase\s/g)?.length ?? 0;
  // An error in a teardown is counted beside its test, so then there are fewer elements than the total says.
  if (errors === 0 ? cases !== tests : cases > tests) return 'unknown';
  const passed = tests - failures - errors - skipped;
  return passed < 0 ? 'unknown' : { passed, failed: failures + errors, skipped };
}

const SUMMARY = /^=+ (.+) in [\d.]+s(?: \([\d:]+\))? =+$/;
/** With `-q` it stands without its rule. */
const QUIET = /^((?:no tests ran|\d{1,9} \w+)(?:, \d{1,9} \w+)*) in [\d.]+s(?: \([\d:]+\))?$/;
const PART = /^(\d{1,9}) (passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)$/;

/** The line `=== 3 passed, 1 skipped in 0.01s ===`. Two of them are nobody's summary. */
export function pytestSummary(): OutputReader {
  const summaries: (Tally | 'unknown')[] = [];
  return {
    line(stream, line) {
      const match = stream === 'stdout' ? SUMMARY.exec(line) : null;
      if (match !== null) summaries.push(parseParts(match[1] ?? ''));
    },
    finish: () => (summaries.length > 1 ? 'unknown' : (summaries[0] ?? null)),
  };
}

/** What one line says as a summary, quiet or not; `null` when it is none. */
export function pytestTally(line: string): Tally | 'unknown' | null {
  const match = SUMMARY.exec(line) ?? QUIET.exec(line);
  return match === null ? null : parseParts(match[1] ?? '');
}

function parseParts(text: string): Tally | 'unknown' {
  if (text === 'no tests ran') return { passed: 0, failed: 0, skipped: 0 };
  const tally = { passed: 0, failed: 0, skipped: 0 };
  for (const part of text.split(', ')) {
    const match = PART.exec(part);
    if (match === null) return 'unknown';
    const count = Number(match[1]);
    if (match[2] === 'passed' || match[2] === 'xpassed') tally.passed += count;
    else if (match[2] === 'failed' || match[2] === 'error' || match[2] === 'errors') tally.failed += count;
    else if (match[2] === 'skipped' || match[2] === 'xfailed') tally.skipped += count;
  }
  return tally;
}
