/** The client's behaviours over the local Coder, and over a real server where `CODER_URL` and `CODER_SESSION_TOKEN` name one. */
import { afterEach, describe, expect, test } from 'vitest';
import { connectCoder } from '../../activities/coder/connect.ts';
import { coderIdentity } from '../../activities/coder/identity.ts';
import { BREAK_GLASS_USER, SERVICE_USER, serviceUsers } from '../../local/coder/identities.ts';
import { type LocalCoder, startLocalCoder } from '../../local/coder/main.ts';
import { roleTemplates } from '../../local/coder/role-templates.ts';
import { SimulatedRuntime } from '../../local/coder/simulated-runtime.ts';
import { newKey } from '../../local/coder/users/accounts.ts';
import type { LocalCoderOptions } from '../../local/coder/settings.ts';
import { RUN_PARAMETER } from '../../schemas/coder/workspace.ts';
import { readiness } from '../../schemas/coder/build.ts';
import { lifecycle, type Target } from './contract/lifecycle.ts';
import { failing } from './stage.ts';

const TIME_SCALE = 0.02;
/** Of polls; this machine may be busy. */
const PATIENT = { timeout: 15_000 };

async function local(options: Partial<LocalCoderOptions> = {}) {
  const tokens = { lifecycle: newKey(), chat: newKey(), breakGlass: newKey() };
  const runtime = new SimulatedRuntime({ timeScale: TIME_SCALE });
  const server = await startLocalCoder({
    stateFile: ':memory:',
    runtime,
    timeScale: TIME_SCALE,
    requestsPerMinute: null,
    seed: { users: serviceUsers(tokens), templates: roleTemplates(), provider: null },
    ...options,
  });
  const as = (token: string) => connectCoder({ url: server.url, token, timeoutMs: 5_000 });
  const coder = as(tokens.lifecycle);
  const template = await coder.template('coder', 'development');
  return { server, runtime, tokens, as, coder, template };
}

describe('the local Coder', () => {
  lifecycle(async (): Promise<Target> => {
    const { server, as, coder, template } = await local();
    return {
      coder,
      stranger: as('abcdefghij-secretsecretsecretsecre'),
      owner: SERVICE_USER,
      template,
      parameters: [{ name: 'portcullis_tenant', value: 'local' }],
      slow: [{ name: 'build_seconds', value: '600' }],
      patienceMs: 20_000,
      close: () => server.close(),
    };
  });
});

describe('faults asked for by parameter', () => {
  let open: LocalCoder | null = null;
  afterEach(async () => {
    await open?.close();
    open = null;
  });

  async function faulty(fault: Readonly<Record<string, string>>) {
    const stage = await local();
    open = stage.server;
    const request = {
      owner: SERVICE_USER,
      name: 'forge-faulty',
      templateId: stage.template.id,
      templateVersionId: stage.template.activeVersionId,
      run: 'workspace/faulty',
      parameters: Object.entries({ portcullis_tenant: 'local', ...fault }).map(([name, value]) => ({ name, value })),
      ttlMs: 3_600_000,
    };
    const create = () => stage.coder.createOrAdopt(request);
    const state = async (id: string) => {
      const reading = await stage.coder.readById(id);
      return reading.seen === 'present' ? readiness(reading.workspace.build) : reading.seen;
    };
    return { ...stage, create, state };
  }

  test.each([
    ['a start that fails', { fail_on: 'start' }],
    ['a start script that exits with 3', { start_exit: '3' }],
    ['an agent that never connects', { agent_connects: 'never' }],
  ])('%s ends as failed', async (_, fault) => {
    const { create, state } = await faulty(fault);
    const { workspace } = await create();
    await expect.poll(() => state(workspace.id), PATIENT).toBe('failed');
  });

  test.each([['lost'], ['made_but_500'], ['refused_once']])('an answer that is %s is made good', async (fault) => {
    const { create } = await faulty({ api_fault: fault });
    const { workspace } = await create().catch(create);
    expect((await create()).workspace.id).toBe(workspace.id);
  });

  test.each([
    ['unavailable', 'coder_unavailable'],
    ['rate_limited', 'coder_rate_limited'],
  ])('a server that is %s says so', { timeout: 30_000 }, async (fault, code) => {
    const { template, tokens, server } = await faulty({});
    const impatient = connectCoder({ url: server.url, token: tokens.lifecycle, rateLimitWaitMs: 0 });
    const request = { owner: SERVICE_USER, name: 'forge-refused', templateId: template.id, run: 'workspace/refused' };
    const parameters = [
      { name: 'portcullis_tenant', value: 'local' },
      { name: 'api_fault', value: fault },
    ];
    const asked = { ...request, templateVersionId: template.activeVersionId, parameters, ttlMs: 3_600_000 };
    await expect(impatient.createOrAdopt(asked)).rejects.toEqual(failing(code));
  });

  test('a delete that fails keeps the name; an orphan needs the break-glass identity and leaves compute, which a sweep ends', async () => {
    const { create, coder, as, tokens, runtime, server } = await faulty({ fail_on: 'delete' });
    const { workspace } = await create();
    const job = async () => {
      const reading = await coder.readById(workspace.id);
      return reading.seen === 'present'
        ? `${reading.workspace.build.transition} ${reading.workspace.build.job}`
        : reading.seen;
    };
    await expect.poll(job, PATIENT).toBe('start succeeded');
    await coder.requestBuild(workspace.id, { transition: 'delete' });
    await expect.poll(job, PATIENT).toBe('delete failed');
    expect(await coder.isGone(workspace.id)).toEqual({ gone: false, because: 'delete_failed' });
    const orphan = { transition: 'delete', orphan: true } as const;
    await expect(coder.requestBuild(workspace.id, orphan)).rejects.toEqual(failing('coder_forbidden'));
    await as(tokens.breakGlass).requestBuild(workspace.id, orphan);
    await expect.poll(async () => (await coder.isGone(workspace.id)).gone, PATIENT).toBe(true);
    expect(await runtime.survivors()).toEqual([{ workspaceId: workspace.id, run: 'workspace/faulty' }]);
    const swept = await fetch(`${server.url}/local/v1/compute?run=workspace/faulty`, {
      method: 'DELETE',
      headers: { 'Coder-Session-Token': tokens.lifecycle },
    });
    expect([await swept.json(), await runtime.survivors()]).toEqual([{ ended: 1 }, []]);
  });

  test('the identities may do what they are for', async () => {
    const { server, tokens } = await faulty({});
    const users = [tokens.lifecycle, tokens.chat, tokens.breakGlass].map((token) =>
      coderIdentity({ url: server.url, token }).user(),
    );
    expect((await Promise.all(users)).map(({ username }) => username)).toEqual([
      SERVICE_USER,
      SERVICE_USER,
      BREAK_GLASS_USER,
    ]);
    const identity = coderIdentity({ url: server.url, token: tokens.lifecycle });
    expect(await identity.daemons('coder')).toHaveLength(3);
    expect(await identity.queue('coder')).toEqual([]);
  });
});

const { CODER_URL: url, CODER_SESSION_TOKEN: token, CODER_TEMPLATE: templateName = 'development' } = process.env;
if (url !== undefined && token !== undefined) {
  describe('a real server', { timeout: 900_000 }, () => {
    lifecycle(async (): Promise<Target> => {
      const coder = connectCoder({ url, token });
      const { username } = await coderIdentity({ url, token }).user();
      const template = await coder.template('coder', templateName);
      const asked = await coder.templateParameters(template.activeVersionId);
      const parameters = asked
        .filter(({ name, required }) => required && name !== RUN_PARAMETER)
        .map(({ name, options }) => ({ name, value: options[0] ?? 'contract' }));
      console.log(
        'not checked on a real server: orphan deletes, failing builds and agents, a killed server, autostop, chats',
      );
      return {
        coder,
        stranger: connectCoder({ url, token: 'abcdefghij-secretsecretsecretsecre' }),
        owner: username,
        template,
        parameters,
        slow: [],
        patienceMs: 600_000,
        close: () => Promise.resolve(),
      };
    });
  });
}
