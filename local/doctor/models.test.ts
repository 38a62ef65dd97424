import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadWorkspaceRegistry } from '../../activities/workspaces/registry.ts';
import { checkModels } from './models.ts';

const { registry } = await loadWorkspaceRegistry();
const hosts = (name: string) => [{ name, url: 'http://127.0.0.1:1', apis: ['openai'], auth: 'none' }];
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'portcullis-doctor-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function checked(name: string, mode: number): Promise<string> {
  const file = join(directory, `${name}-${mode}.json`);
  await writeFile(file, JSON.stringify({ schema: 'portcullis/model-hosts/v1', hosts: hosts(name) }), { mode });
  const { status, found } = await checkModels(file, registry, false);
  return `${status} ${found}`;
}

test('where no host of a model is configured, it says so, and minds only where a CLI needs one', async () => {
  expect(await checkModels(null, registry, false)).toMatchObject({ status: 'warn' });
  expect(await checkModels(null, registry, true)).toMatchObject({ status: 'ok' });
});

test('a host is named by its address, and roles without one by theirs', async () => {
  expect(await checked('default', 0o600)).toMatch(/^ok default at 127\.0\.0\.1:1;/);
  expect(await checked('other', 0o600)).toMatch(/^warn .*without a host: forge wants default, sentinel wants default/);
  expect(await checked('default', 0o644)).toMatch(/^fail .*0600/);
});
