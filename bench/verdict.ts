/** What the worst known messages within the bounds of `policies/verdicts/bounds.ts` cost, beside an ordinary one. */
import { MESSAGE_BOUNDS, breachOfBounds } from '../policies/verdicts/bounds.ts';
import { parseVerdict } from '../policies/verdicts/parse.ts';
import type { Timing } from './support/compare.ts';
import { timesOf } from './support/processor.ts';
import { progress } from './support/progress.ts';
import { milliseconds, type Bench, type BenchReport } from './support/report.ts';
import { summarise } from './support/statistics.ts';

const GOAL_MS = 2000;
const { bytes, lines, markers, markerColumn } = MESSAGE_BOUNDS;

export const verdictBench: Bench = {
  name: 'verdict',
  about: 'reading a verdict from the worst messages that are still parsed',
  run: () => Promise.resolve(run()),
};

const BLOCK = '\n\n```json\n{"verdict":"APPROVED"}\n```\n';

/** The pattern as often as the bounds let it. */
function often(pattern: string): string {
  const perRepeat = { lines: pattern.split('\n').length - 1, markers: pattern.split(/[>+*.-] ?/).length - 1 };
  const times = Math.min(
    bytes / pattern.length,
    (lines - 10) / Math.max(1, perRepeat.lines),
    markers / Math.max(1, perRepeat.markers),
  );
  return pattern.repeat(Math.floor(times));
}

const deepQuote = '>'.repeat(markerColumn);
const deepList = Array.from({ length: markerColumn / 2 }, (_, depth) => `${'  '.repeat(depth)}- a\n`).join('');

const MESSAGES: Readonly<Record<string, string>> = {
  'an ordinary review of 10 KiB': `${'The change does what the plan says, and `total` is tested.\n'.repeat(170)}${BLOCK}`,
  'prose of 64 KiB': 'All of it was read and it holds. '.repeat(1900) + BLOCK,
  headings: often('a\n=\n') + BLOCK,
  'quotes and lists in each other': often(`${'> - '.repeat(markerColumn / 4)}a\n`) + BLOCK,
  'numbered lists in each other': often(`${'1. '.repeat(26)}a\n`) + BLOCK,
  'a list of one-letter items': '- a\n'.repeat(lines - 10) + BLOCK,
  'a quote of one-letter lines': '> a\n'.repeat(lines - 10) + BLOCK,
  'lazy lines under a deep quote': `${deepQuote}a\n${'a\n'.repeat(lines - 10)}${BLOCK}`,
  'lazy lines under a deep list': `${deepList}${'a\n'.repeat(lines - 60)}${BLOCK}`,
  'link definitions': often('[a]: b\n') + BLOCK,
  'fenced json blocks': often('```json\n{}\n```\n') + BLOCK,
  brackets: '['.repeat(bytes - 50) + BLOCK,
  emphasis: '*a **a '.repeat(9000) + BLOCK,
};

function run(): BenchReport {
  const timings = Object.entries(MESSAGES).map(([name, message]): Timing => {
    const breach = breachOfBounds(message);
    if (breach !== null) throw new Error(`${name} is not within the bounds: ${breach.detail}`);
    parseVerdict(message);
    const { processor } = timesOf(() => parseVerdict(message), 5);
    progress(name);
    return { name, ms: summarise(processor) };
  });
  const refused = { name: '10 MiB, refused', ms: summarise(refusal()) };
  const worst = Math.max(...timings.map(({ ms }) => ms.median));
  return {
    comparisons: [],
    timings: [...timings, refused],
    goals: [
      {
        goal: `no message within the bounds takes ${GOAL_MS} ms on the processor`,
        measured: `${milliseconds(worst)} ms`,
        met: worst < GOAL_MS,
      },
    ],
    facts: { 'bound on bytes': bytes, 'bound on lines': lines },
  };
}

function refusal(): readonly number[] {
  const huge = '> '.repeat(5 * 1024 * 1024);
  return timesOf(() => parseVerdict(huge), 20).processor;
}
