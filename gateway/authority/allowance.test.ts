import { expect, test } from 'vitest';
import { Allowance } from './allowance.ts';

function refuses(work: () => unknown): void {
  expect(work).toThrow(expect.objectContaining({ code: 'rate_limited' }));
}

test("an allowance is spent, comes back with time, and is each holder's own", () => {
  const clock = { ms: 0 };
  const allowance = new Allowance({ perSecond: 10, burst: 20 }, () => clock.ms);
  allowance.spend('a', 20);
  refuses(() => allowance.spend('a', 1));
  allowance.spend('b', 20);
  clock.ms = 100;
  allowance.spend('a', 1);
  refuses(() => allowance.spend('a', 1));
  clock.ms = 1_000_000;
  allowance.spend('a', 20);
  refuses(() => allowance.spend('a', 1));
});
