import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../schemas/digest.ts';
import { listCommandPolicies, loadCommandPolicy } from './load.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'portcullis-policy-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('loading a command policy', () => {
  it('answers the document with its digest', async () => {
    const { policy, digest } = await loadCommandPolicy();
    expect(policy.id).toBe('default');
    expect(digest).toBe(digestOf('policy', policy));
    expect(await listCommandPolicies()).toContain('default.json');
  });

  it.each<[string, (document: Record<string, unknown>) => unknown]>([
    ['an unknown key, such as a prefix rule', (document) => ({ ...document, prefixes: [['npm']] })],
    ['another id than its file', (document) => ({ ...document, id: 'other' })],
    ['a finding of lint', (document) => ({ ...document, templates: [] })],
    ['a missing part', ({ templates: _, ...document }) => document],
  ])('[inv-19] refuses a document with %s', async (_, change) => {
    const { policy } = await loadCommandPolicy();
    await writeFile(join(directory, 'default.json'), JSON.stringify(change({ ...policy })));
    await expect(loadCommandPolicy(directory)).rejects.toMatchObject({ code: 'setting_invalid' });
  });

  it.each([
    ['no JSON', 'not json'],
    ['one key twice', '{"schema":1,"schema":2}'],
  ])('[inv-19] refuses %s', async (_, text) => {
    await writeFile(join(directory, 'default.json'), text);
    await expect(loadCommandPolicy(directory)).rejects.toMatchObject({ code: 'setting_invalid' });
  });

  it('[inv-19] refuses a directory that is not there', async () => {
    await expect(loadCommandPolicy(join(directory, 'none'))).rejects.toMatchObject({ code: 'setting_invalid' });
    await expect(listCommandPolicies(join(directory, 'none'))).rejects.toMatchObject({ code: 'setting_invalid' });
  });
});
