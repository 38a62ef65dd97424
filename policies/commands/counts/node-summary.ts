/**
 * The summary that `node --test` prints on stdout, as `ℹ tests 3` (spec) or `# tests 3` (TAP): eight lines in one order. A
 * test can print the like, so a second summary, or a stray line of one, makes the count unknown.
 */
import type { OutputReader, Tally } from './counter.ts';

const FIELDS = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo', 'duration_ms'] as const;
const LINE = /^(?:ℹ|#) (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (\d{1,9})(?:\.\d+)?$/;
/** A test file that ran no test stands in the list under its own path, as a pass. */
const PLACEHOLDER = /^(?:✔ \S+\.[cm]?[jt]sx? \([\d.]+ms\)|ok \d+ - \S+\.[cm]?[jt]sx?)$/;

export function nodeSummary(): OutputReader {
  let values: number[] = [];
  let summary: Tally | null = null;
  let placeholders = 0;
  let consistent = true;

  return {
    line(stream, line) {
      if (stream !== 'stdout') return;
      if (PLACEHOLDER.test(line)) placeholders += 1;
      const match = LINE.exec(line);
      if (match === null) {
        if (values.length > 0) consistent = false;
        return;
      }
      if (match[1] !== FIELDS[values.length] || summary !== null) consistent = false;
      values.push(Number(match[2]));
      if (values.length < FIELDS.length) return;
      summary = tallyOf(values);
      if (summary === null) consistent = false;
      values = [];
    },
    finish() {
      if (summary === null) return values.length > 0 || !consistent ? 'unknown' : null;
      if (!consistent || values.length > 0 || placeholders > summary.passed) return 'unknown';
      return { ...summary, passed: summary.passed - placeholders };
    },
  };
}

function tallyOf(values: readonly number[]): Tally | null {
  const [tests = 0, , pass = 0, fail = 0, cancelled = 0, skipped = 0, todo = 0] = values;
  if (tests !== pass + fail + cancelled + skipped + todo) return null;
  return { passed: pass, failed: fail + cancelled, skipped: skipped + todo };
}
