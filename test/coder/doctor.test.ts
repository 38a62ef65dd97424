/** What `doctor` says of a Coder server: the local one, as it is seeded and with one thing wrong at a time. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { coderIdentity } from '../../activities/coder/identity.ts';
import { BREAK_GLASS_USER, SERVICE_USER, serviceUsers } from '../../local/coder/identities.ts';
import { type LocalCoder, startLocalCoder } from '../../local/coder/main.ts';
import { roleTemplates } from '../../local/coder/role-templates.ts';
import type { SeedTemplate } from '../../local/coder/seed.ts';
import { SimulatedRuntime } from '../../local/coder/simulated-runtime.ts';
import { newKey } from '../../local/coder/users/accounts.ts';
import type { Check } from '../../local/doctor/check.ts';
import { checkCoder } from '../../local/doctor/coder.ts';
import { coderTemplates } from '../../local/doctor/coder-access.ts';
import { TEMPLATE_PARAMETERS } from '../../schemas/workspace/parameters.ts';

const tokens = { lifecycle: newKey(), chat: newKey(), breakGlass: newKey() };
const NARROW = ['coder:workspaces.create', 'coder:workspaces.operate', 'coder:workspaces.delete', 'template:read'];
const HOUR_MS = 3_600_000;

const [development] = roleTemplates();

/** Templates that are the development one with one thing changed. */
const FAULTY: Readonly<Record<string, (sound: SeedTemplate) => Partial<SeedTemplate>>> = {
  unparametrised: ({ parameters }) => ({
    parameters: parameters.filter(({ name }) => name !== TEMPLATE_PARAMETERS.agentClaim),
  }),
  demanding: ({ parameters: [first, ...rest] }) => ({
    parameters: first === undefined ? rest : [first, ...rest, { ...first, name: 'region', required: true }],
  }),
  bumped: () => ({ activityBumpMs: HOUR_MS }),
  dormant: () => ({ timeTilDormantMs: HOUR_MS }),
  uncancellable: () => ({ userMayCancel: false }),
  brief: () => ({ defaultTtlMs: HOUR_MS }),
};

let server: LocalCoder;

beforeAll(async () => {
  const faulty = Object.entries(FAULTY).flatMap(([name, change]) =>
    development === undefined ? [] : [{ ...development, ...change(development), name }],
  );
  server = await startLocalCoder({
    stateFile: ':memory:',
    runtime: new SimulatedRuntime({ timeScale: 1 }),
    seed: { users: serviceUsers(tokens), templates: [...roleTemplates(), ...faulty], provider: null },
  });
});
afterAll(() => server.close());

async function examined(
  token: string,
  templates: Awaited<ReturnType<typeof coderTemplates>> = [],
): Promise<readonly Check[]> {
  return await checkCoder({ url: server.url, token, organization: 'coder', templates });
}

async function one(name: string, token: string, template?: string): Promise<Check | undefined> {
  const templates = template === undefined ? [] : [{ name: template, maxTtlSeconds: 4 * 3600 }];
  return (await examined(token, templates)).find((check) => check.name === name);
}

/** A token of the user whose token this is. */
async function minted(by: string, scopes: readonly string[], lifeMs: number): Promise<string> {
  return await coderIdentity({ url: server.url, token: by }).createToken({ name: newKey(), lifeMs, scopes });
}

test('the local stack’s own passes, and so do its four templates', async () => {
  const checks = await examined(tokens.lifecycle, await coderTemplates());
  expect(checks.filter(({ status }) => status !== 'ok')).toEqual([
    // Its scopes do not let it read keys.
    expect.objectContaining({ name: 'coder scopes', status: 'skip' }),
  ]);
  expect(checks.map(({ name }) => name)).toEqual([
    'coder',
    'coder clock',
    'coder identity',
    'coder scopes',
    'coder provisioners',
    'coder template development',
    'coder template evaluation',
    'coder template verifier',
    'coder template documentation',
  ]);
  expect(checks.find(({ name }) => name === 'coder identity')?.found).toContain(SERVICE_USER);
});

test('a server that is not there is one finding, not many', async () => {
  const url = 'http://127.0.0.1:1';
  const checks = await checkCoder({ url, token: tokens.lifecycle, organization: 'coder', templates: [] });
  expect(checks).toEqual([expect.objectContaining({ name: 'coder', status: 'fail' })]);
});

test('a token that nobody knows fails wherever it is needed', async () => {
  const checks = await examined('abcdefghij-secretsecretsecretsecre', await coderTemplates());
  const failed = checks.filter(({ status }) => status === 'fail').map(({ name }) => name);
  expect(failed).toEqual(expect.arrayContaining(['coder identity', 'coder scopes', 'coder template development']));
});

describe('a token', () => {
  test('with the scopes that are needed and no more is fine', async () => {
    const scopes = [...NARROW, 'api_key:read', 'user:read'];
    const token = await minted(tokens.chat, scopes, 48 * HOUR_MS);
    expect(await one('coder scopes', token)).toMatchObject({ status: 'ok' });
  });

  test('that may do everything is told so', async () => {
    expect(await one('coder scopes', tokens.chat)).toMatchObject({
      status: 'warn',
      mend: expect.stringMatching(/Narrower/u) as string,
    });
  });

  test('that lacks a scope is told which', async () => {
    const token = await minted(tokens.chat, ['coder:workspaces.create', 'api_key:read'], 48 * HOUR_MS);
    expect(await one('coder scopes', token)).toMatchObject({
      status: 'warn',
      mend: expect.stringMatching(/workspaces\.delete/u) as string,
    });
  });

  test('that ends within a day is to be replaced', async () => {
    const token = await minted(tokens.chat, [...NARROW, 'api_key:read'], HOUR_MS);
    expect(await one('coder scopes', token)).toMatchObject({
      status: 'warn',
      mend: expect.stringMatching(/within a day/u) as string,
    });
  });

  test('of an administrator is warned of', async () => {
    const check = await one('coder identity', tokens.breakGlass);
    expect(check).toMatchObject({ status: 'warn', mend: expect.stringMatching(/service user/u) as string });
    expect(check?.found).toContain(BREAK_GLASS_USER);
  });
});

describe('a template', () => {
  test('that is missing fails', async () => {
    const check = await one('coder template nowhere', tokens.lifecycle, 'nowhere');
    expect(check).toMatchObject({
      status: 'fail',
      mend: expect.stringMatching(/examples\/coder-templates/u) as string,
    });
  });

  test.each([
    ['unparametrised', /lacks portcullis_agent_claim/u, /Push a version/u],
    ['demanding', /requires region/u, /default/u],
    ['bumped', /activity bump is 60 min/u, /--activity-bump 0/u],
    ['dormant', /dormant/u, /--dormancy-threshold 0/u],
    ['uncancellable', /cannot be cancelled/u, /--allow-user-cancel-workspace-jobs=true/u],
    ['brief', /default TTL is 60 min, below the 240 min/u, /--default-ttl 255m/u],
  ])('that is %s fails and says how to mend it', async (name, found, mend) => {
    const check = await one(`coder template ${name}`, tokens.lifecycle, name);
    expect(check?.status).toBe('fail');
    expect(check?.found).toMatch(found);
    expect(check?.mend).toMatch(mend);
  });
});
