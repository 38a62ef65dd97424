import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { publicKeys } from '../activities/signing/public-keys.ts';

import { ensureKeys, KEY_FILES } from './keys.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keys-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const publicFile = () => join(directory, KEY_FILES.gatePublic);

test('a start changes no key that is there', async () => {
  await ensureKeys(directory);
  const before = await readFile(publicFile(), 'utf8');
  await ensureKeys(directory);
  expect(await readFile(publicFile(), 'utf8')).toBe(before);
});

test('after a change of the gate’s key, what the old one signed still verifies', async () => {
  await ensureKeys(directory);
  const [old] = await publicKeys(publicFile())();
  await rm(join(directory, KEY_FILES.gate));
  await ensureKeys(directory);
  await ensureKeys(directory);
  const keys = await publicKeys(publicFile())();
  expect(keys).toHaveLength(2);
  expect(keys[0]?.keyId).not.toBe(old?.keyId);
  expect(keys[1]?.keyId).toBe(old?.keyId);
});
