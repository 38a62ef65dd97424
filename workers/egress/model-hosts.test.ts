import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readModelHosts } from './model-hosts.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'portcullis-models-'));
  await writeFile(join(directory, 'key'), 'a-key-of-the-host\n', { mode: 0o600 });
});
afterEach(() => rm(directory, { recursive: true }));

const ENTRY = { name: 'default', url: 'https://model.example/api/', apis: ['openai'], auth: 'bearer', key_file: 'key' };

async function read(change: object, mode = 0o600) {
  const file = join(directory, 'models.json');
  await writeFile(file, JSON.stringify({ schema: 'portcullis/model-hosts/v1', hosts: [{ ...ENTRY, ...change }] }));
  await chmod(file, mode);
  return readModelHosts(file);
}

it('a host has its key from a file beside it, and paths go below its URL', async () => {
  const host = (await read({})).get('default');
  expect(host).toMatchObject({
    base: new URL('https://model.example/api'),
    credential: { header: 'authorization', value: 'Bearer a-key-of-the-host' },
    models: null,
    hostedTools: false,
  });
});

it('[inv-15] a file that others can read is refused, and so is such a key', async () => {
  await expect(read({}, 0o640)).rejects.toMatchObject({ code: 'setting_invalid' });
  await chmod(join(directory, 'key'), 0o604);
  await expect(read({})).rejects.toMatchObject({ code: 'setting_invalid' });
});

it.each([
  ['http to another machine', { url: 'http://model.example' }],
  ['a user in the address', { url: 'https://a:b@model.example' }],
  ['another scheme', { url: 'file:///etc/passwd' }],
  ['a key without a use', { auth: 'none' }],
  ['a use without a key', { key_file: undefined }],
  ['a key that is not there', { key_file: 'other' }],
  ['an unknown bound', { max_tokens: 5 }],
])('[inv-15] %s is refused', async (_, change) => {
  await expect(read(change)).rejects.toMatchObject({ code: 'setting_invalid' });
});

it('[inv-19] a key that would be more than a header is refused, and not repeated', async () => {
  await writeFile(join(directory, 'key'), 'a-key\r\nx-evil: 1');
  await expect(read({})).rejects.toThrow(/holds no key/);
  await expect(read({})).rejects.not.toThrow(/x-evil/);
});
