import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveUpstreams } from './machine.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'portcullis-machine-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function resolve(files: Readonly<Record<string, string>>, variables: Readonly<Record<string, string>> = {}) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
  const own = { HOME: home, NPM_CONFIG_GLOBALCONFIG: join(home, 'none'), PIP_CONFIG_FILE: join(home, 'none') };
  const upstreams = await resolveUpstreams({ ...own, ...variables });
  return Object.fromEntries(
    Object.entries(upstreams).map(([name, { base, authorization }]) => [name, [base.href, authorization]]),
  );
}

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('where the registries of a machine are', () => {
  it('is what each client has without any configuration', async () => {
    expect(await resolve({})).toMatchObject({
      npm: ['https://registry.npmjs.org/', null],
      'crates-index': ['https://index.crates.io/', null],
      go: ['https://proxy.golang.org/', null],
    });
  });

  it('is what the files of the clients say, with the credentials that are kept beside', async () => {
    const found = await resolve(
      {
        '.npmrc':
          'registry=https://npm.example/a/b\n//npm.example/a/:_authToken=${NPM_TOKEN}\n//other.example/:_authToken=no\n',
        '.config/pip/pip.conf': '[global]\nindex-url = https://user:p%40ss@pip.example/simple\n',
        '.config/go/env': 'GOFLAGS=-x\nGOPROXY=https://go.example/proxy,direct\n',
        '.netrc': 'machine go.example login me password secret\n',
        '.cargo/config.toml':
          '[source.crates-io]\nreplace-with = "mirror"\n\n[source.mirror]\nregistry = "sparse+https://crates.example/index/"\n',
        '.cargo/credentials.toml': '[registries.mirror]\ntoken = "abc"\n',
      },
      { NPM_TOKEN: 'token' },
    );
    expect(found).toEqual({
      npm: ['https://npm.example/a/b/', 'Bearer token'],
      pypi: ['https://pip.example/simple/', basic('user:p@ss')],
      go: ['https://go.example/proxy/', basic('me:secret')],
      'crates-index': ['https://crates.example/index/', 'abc'],
    });
  });

  it('is what a variable says before any file', async () => {
    const found = await resolve(
      { '.npmrc': 'registry=https://npm.example/\n', '.config/go/env': 'GOPROXY=https://go.example\n' },
      {
        npm_config_registry: 'https://other.example/npm',
        GOPROXY: 'off,https://other.example/go|direct',
        PIP_INDEX_URL: 'https://other.example/simple',
      },
    );
    expect(found).toMatchObject({
      npm: ['https://other.example/npm/', null],
      go: ['https://other.example/go/', null],
      pypi: ['https://other.example/simple/', null],
    });
  });

  it('[inv-19] refuses an address that is none, by name', async () => {
    await expect(resolve({}, { npm_config_registry: 'nonsense' })).rejects.toMatchObject({ code: 'setting_invalid' });
    await expect(resolve({}, { PIP_INDEX_URL: 'file:///simple' })).rejects.toMatchObject({ code: 'setting_invalid' });
  });
});
