import { describe, expect, test } from 'vitest';
import { Places } from './places.ts';

/** How many the holder gets when it takes all that it can. */
function greedy(places: Places, holder: string): number {
  for (let taken = 0; ; taken += 1) {
    try {
      places.take(holder);
    } catch {
      return taken;
    }
  }
}

describe('[inv-19] places that all share', () => {
  test('are bounded for one holder, and come back when they are left', () => {
    const places = new Places(32, 4);
    const leave = places.take('a');
    expect(greedy(places, 'a')).toBe(3);
    leave();
    expect(greedy(places, 'a')).toBe(1);
  });

  test.each([
    [32, 4],
    [48, 6],
    [192, 24],
  ])('of %i, four that take all they can leave more than half, at %i each', (total, perHolder) => {
    const places = new Places(total, perHolder);
    const taken = ['a', 'b', 'c', 'd'].map((holder) => greedy(places, holder));
    expect(taken[0]).toBe(perHolder);
    expect(taken.reduce((sum, count) => sum + count, 0)).toBeLessThan(total / 2);
    expect(greedy(places, 'late')).toBeGreaterThan(0);
  });

  test('end with the last of them, for whoever it is', () => {
    const places = new Places(3, 2);
    for (const holder of ['a', 'b', 'c']) places.take(holder);
    expect(() => places.take('d')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  });
});
