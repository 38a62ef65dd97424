/** That every hostile case of spec/gate.md section 9 has a test, or says which processes it needs. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { HOSTILE_CASES } from '../../test/support/gate-hostile-cases.ts';

const directory = fileURLToPath(new URL('./', import.meta.url));
const written = readdirSync(directory)
  .filter((name) => /^hostile-\w+\.test\.ts$/.test(name))
  .map((name) => readFileSync(`${directory}${name}`, 'utf8'))
  .join('\n');

/** In files of their own: `properties.test.ts`, `precedence.test.ts`. */
const ELSEWHERE = ['fact-40', 'spec-pairs'];

test('every case that needs no process has a test named by its number', () => {
  const owed = HOSTILE_CASES.filter(
    ({ id, pure }) => pure && !ELSEWHERE.includes(id) && !written.includes(`test('[${id}] `),
  );
  expect(owed.map(({ id }) => id)).toEqual([]);
});

test('the list has the thirteen of the seed and the forty of the facts, and says what each other needs', () => {
  expect(new Set(HOSTILE_CASES.map(({ id }) => id)).size).toBe(HOSTILE_CASES.length);
  expect(HOSTILE_CASES.filter(({ id }) => id.startsWith('seed-'))).toHaveLength(13);
  expect(HOSTILE_CASES.filter(({ id }) => id.startsWith('fact-'))).toHaveLength(40);
  expect(HOSTILE_CASES.filter(({ pure, needsServer }) => !pure && needsServer === null)).toEqual([]);
});
