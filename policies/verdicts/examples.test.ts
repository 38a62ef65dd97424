import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseVerdict } from './parse.ts';
import { routeOf } from './route.ts';

const directory = fileURLToPath(new URL('../../examples/verdicts/', import.meta.url));
const examples = readdirSync(directory)
  .filter((name) => name.endsWith('.md'))
  .map((name) => {
    const message = readFileSync(directory + name, 'utf8');
    return [name, message, /^<!-- expect: (.+)$/m.exec(message)?.[1] ?? 'no expectation'] as const;
  });

test.each(examples)('examples/verdicts/%s reads as it says', (_, message, expected) => {
  const reading = parseVerdict(message);
  const parts =
    reading.verdict === 'REJECTED'
      ? [reading.token, reading.failureClass]
      : reading.verdict === 'UNPARSEABLE'
        ? [reading.reason]
        : [];
  expect([reading.verdict, ...parts, routeOf(reading)].join(' ')).toBe(expected);
});

test('there is an example of every verdict and of every route', () => {
  const expectations = examples.map(([, , expected]) => expected);
  for (const word of ['APPROVED', 'REJECTED', 'UNPARSEABLE', 'RETRY_FORJA', 'NEEDS_HUMAN', 'BLOCKED_UPSTREAM'])
    expect(expectations.join('\n')).toContain(word);
  const routes = new Set(expectations.map((expected) => expected.split(' ').at(-1)));
  expect([...routes].sort()).toEqual(['human', 'proceed', 'reask', 'retry_producer', 'stop']);
});
