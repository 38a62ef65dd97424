/** vitest and jest: the one line of each that totals the tests. Two of them, or parts that do not add up, are unknown. */
import type { OutputReader, Tally } from './counter.ts';

/** `      Tests  1 failed | 2 passed | 1 skipped (4)` */
export function vitestCounter(): OutputReader {
  return totalLine(/^\s*Tests {2}(.+) \((\d{1,9})\)$/, ' | ');
}

/** `Tests:       1 failed, 2 passed, 3 total` */
export function jestCounter(): OutputReader {
  return totalLine(/^Tests:\s+(?:(.+), )?(\d{1,9}) total$/, ', ');
}

function totalLine(pattern: RegExp, separator: string): OutputReader {
  const totals: (Tally | 'unknown')[] = [];
  return {
    // jest prints its summary on stderr, vitest on stdout.
    line(_stream, line) {
      const match = pattern.exec(line);
      if (match !== null) totals.push(parseTotal((match[1] ?? '').split(separator), Number(match[2])));
    },
    finish: () => (totals.length > 1 ? 'unknown' : (totals[0] ?? null)),
  };
}

function parseTotal(parts: readonly string[], total: number): Tally | 'unknown' {
  const tally = { passed: 0, failed: 0, skipped: 0 };
  for (const part of parts) {
    if (part === '') continue;
    const match = /^(\d{1,9}) (passed|failed|skipped|todo|expected fail)$/.exec(part);
    if (match === null) return 'unknown';
    const count = Number(match[1]);
    if (match[2] === 'passed' || match[2] === 'expected fail') tally.passed += count;
    else if (match[2] === 'failed') tally.failed += count;
    else tally.skipped += count;
  }
  return tally.passed + tally.failed + tally.skipped === total ? tally : 'unknown';
}
