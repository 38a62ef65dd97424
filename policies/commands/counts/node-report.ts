/**
 * The report that our reporter writes for `node --test` (`activities/executor/node-test-reporter.mjs`): one JSON object a
 * line, one for each test, the runner's own total, and an end.
 *
 * Node counts a test file that ran no test as one passed test, so a file of `process.exit(0)` looks green in its summary.
 * The reporter marks these placeholders and they count for nothing here.
 */
import type { Tally } from './counter.ts';

const OUTCOMES = ['pass', 'fail', 'skip'] as const;
type Outcome = (typeof OUTCOMES)[number];

export interface NodeTally extends Tally {
  /** Test files that ran no test, which the runner counts as passed. */
  readonly placeholders: number;
}

export function countNodeReport(report: string): NodeTally | 'unknown' {
  const seen = { pass: 0, fail: 0, skip: 0 };
  let placeholders = 0;
  let total: number | null = null;
  let ended = false;
  for (const text of report.split('\n')) {
    if (text === '') continue;
    const entry = parseLine(text);
    if (entry === null || ended) return 'unknown';
    if (entry.kind === 'end') ended = true;
    else if (entry.kind === 'total') total = entry.tests;
    else if (entry.placeholder && entry.outcome !== 'fail') placeholders += 1;
    else seen[entry.outcome] += 1;
  }
  const counted = seen.pass + seen.fail + seen.skip + placeholders;
  if (!ended || total !== counted) return 'unknown';
  return { passed: seen.pass, failed: seen.fail, skipped: seen.skip, placeholders };
}

type Line =
  | { readonly kind: 'test'; readonly outcome: Outcome; readonly placeholder: boolean }
  | { readonly kind: 'total'; readonly tests: number }
  | { readonly kind: 'end' };

function parseLine(text: string): Line | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || !('kind' in value)) return null;
  if (value.kind === 'end') return { kind: 'end' };
  if (value.kind === 'total' && 'tests' in value && Number.isSafeInteger(value.tests)) {
    return { kind: 'total', tests: Number(value.tests) };
  }
  if (value.kind !== 'test' || !('outcome' in value) || !('placeholder' in value)) return null;
  const outcome = OUTCOMES.find((one) => one === value.outcome);
  return outcome === undefined ? null : { kind: 'test', outcome, placeholder: value.placeholder === true };
}
