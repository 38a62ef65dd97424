import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { digestOf } from '../../schemas/digest.ts';
import { loadRoutingPolicy } from './routing.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'portcullis-routing-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('the shipped routing policy sends commits to a verifier and live trees to the producer', async () => {
  const { policy, digest } = await loadRoutingPolicy();
  expect(policy.defaults).toEqual({ repo: 'verifier', worktree: 'forge' });
  expect(digest).toBe(digestOf('policy', policy));
});

test.each<[string, (document: Record<string, unknown>) => unknown]>([
  ['an unknown key', (document) => ({ ...document, fallback: 'forge' })],
  ['another id than its file', (document) => ({ ...document, id: 'other' })],
  ['a finding of lint', (document) => ({ ...document, rules: [] })],
  ['a missing part', ({ defaults: _, ...document }) => document],
])('[inv-19] a routing policy with %s is refused', async (_, change) => {
  const { policy } = await loadRoutingPolicy();
  await writeFile(join(directory, 'default.json'), JSON.stringify(change({ ...policy })));
  await expect(loadRoutingPolicy(directory)).rejects.toMatchObject({ code: 'setting_invalid' });
});

test('[inv-19] a routing policy that is not there is refused', async () => {
  await expect(loadRoutingPolicy(directory)).rejects.toMatchObject({ code: 'setting_invalid' });
});
