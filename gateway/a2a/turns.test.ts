import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

test('work under one name is done one at a time, in the order it came, past failures; names are forgotten', async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const work =
    (name: string, fails = false) =>
    async () => {
      seen.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const all = await Promise.allSettled([
    turns.take('pair', work('a', true)),
    turns.take('pair', work('b')),
    turns.take('pair', work('c')),
  ]);
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  expect(turns.size).toBe(0);
});

test('another name does not wait', async () => {
  const turns = new Turns();
  const held = Promise.withResolvers<undefined>();
  const first = turns.take('one', () => held.promise);
  expect(await turns.take('two', () => Promise.resolve('done'))).toBe('done');
  held.resolve(undefined);
  await first;
});
