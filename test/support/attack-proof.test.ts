import { expect, it } from 'vitest';
import { unshown, type RanTest, type TestRow } from './attack-proof.ts';

const row: TestRow = { row: 1, attempt: 'x', answer: 'refused', rule: 'y', walk: 'test', file: 'a.test.ts', test: 'b' };
const here = { tools: new Set(['node']), whole: false };
const ran = (...tests: RanTest[]) => new Map([['a.test.ts', tests]]);

it('takes an attack for shown when its test ran and passed', () => {
  expect(unshown([row], ran({ name: 'b', state: 'passed' }, { name: 'c', state: 'failed' }), here)).toEqual([]);
});

it.each<[string, readonly RanTest[]]>([
  ['there is no such test', [{ name: 'b, renamed', state: 'passed' }]],
  ['its test failed', [{ name: 'b', state: 'failed' }]],
  ['its test was skipped', [{ name: 'b', state: 'skipped' }]],
  [
    'two tests have that name',
    [
      { name: 'b', state: 'passed' },
      { name: 'b', state: 'skipped' },
    ],
  ],
])('[inv-19] says when %s', (problem, tests) => {
  expect(unshown([row], ran(...tests), here)).toEqual([`row 1, x: ${problem} (a.test.ts: b)`]);
});

it('excuses a skipped test only where the tool that it needs is not here', () => {
  const skipped = ran({ name: 'b', state: 'skipped' });
  expect(unshown([{ ...row, needs: 'cargo' }], skipped, here)).toEqual([]);
  expect(unshown([{ ...row, needs: 'node' }], skipped, here)).toHaveLength(1);
});

it('[inv-19] asks for every file of a whole run, and for those that were run of another', () => {
  expect(unshown([row], new Map(), here)).toEqual([]);
  expect(unshown([row], new Map(), { ...here, whole: true })).toEqual(['row 1, x: its file is not run (a.test.ts: b)']);
});
