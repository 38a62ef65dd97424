import { expect, test } from 'vitest';
import { idlePauseMs } from './bounds.ts';

test('a step that changes nothing is tried again after longer and longer pauses, and never given up', () => {
  const pauses = Array.from({ length: 40 }, (_, n) => idlePauseMs(n + 1));
  expect(pauses.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
  expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
  expect(pauses.at(-1)).toBe(5 * 60_000);
});
