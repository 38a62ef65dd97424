import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cacheKey, openPrepareCache, removeUnfinished } from './cache.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'portcullis-prepared-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const key = (name: string) => cacheKey({ tenant: 'local', inputs: [name] });

async function put(name: string, bytes: number, text = name): Promise<void> {
  const cache = openPrepareCache(directory, 100);
  const fresh = await cache.make();
  await writeFile(join(fresh.data, 'made'), text);
  await cache.publish(fresh, key(name), bytes);
}

it('[inv-05] finds an entry by its own key only', async () => {
  await put('a', 10);
  const cache = openPrepareCache(directory, 100);
  const found = await cache.find(key('a'));
  expect(await readFile(join(found?.data ?? '', 'made'), 'utf8')).toBe('a');
  expect(await cache.find(key('b'))).toBeNull();
  expect(cacheKey({ tenant: 'other', inputs: ['a'] })).not.toBe(key('a'));
});

it('[inv-05] keeps what was made first when the same is made again', async () => {
  await put('a', 10, 'first');
  await put('a', 10, 'second');
  const found = await openPrepareCache(directory, 100).find(key('a'));
  expect(await readFile(join(found?.data ?? '', 'made'), 'utf8')).toBe('first');
});

it('[inv-19] takes nothing for an entry that was not moved in whole', async () => {
  const cache = openPrepareCache(directory, 100);
  const fresh = await cache.make();
  await writeFile(join(fresh.data, 'made'), 'half');
  expect(await cache.find(key('a'))).toBeNull();
  await removeUnfinished(directory);
  expect(await readdir(directory)).toEqual([]);
});

it('[inv-19] removes the longest unused when there is too much', async () => {
  await put('a', 40);
  await put('b', 40);
  const cache = openPrepareCache(directory, 100);
  // As if it had been a while.
  for (const name of await readdir(directory)) await utimes(join(directory, name, 'entry.json'), 1_000, 1_000);
  await cache.find(key('a'));
  await put('c', 40);
  expect([await cache.find(key('a')), await cache.find(key('c'))]).not.toContain(null);
  expect(await cache.find(key('b'))).toBeNull();
});
