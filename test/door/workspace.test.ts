/** The HTTP side of a workspace, over the unix socket it is given: claim exchange, registration, output, git, health. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { RunningGateway } from '../../gateway/gateway.ts';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { executorQueue } from '../../schemas/queues.ts';
import type { ClaimGrant } from '../../schemas/workspace-api.ts';
import { WORKSPACE_PATHS } from '../../schemas/workspace-api.ts';
import { admissionOf, resolvedRequest } from '../support/task-fixtures.ts';
import { openStage, seatOfPair, type DoorStage } from './stage.ts';

const git = promisify(execFile);

let stage: DoorStage;
let gateway: RunningGateway;

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
  gateway = await stage.gateway({ limits: { firstBytesMs: 700, firstCallMs: 700, headersMs: 700, requestMs: 1_500 } });
});
afterAll(() => stage.close());

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Call {
  readonly method?: string;
  readonly bearer?: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Over the socket, as a workspace calls. */
function call(path: string, { method = 'POST', bearer, body, headers = {} }: Call = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const authorization = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    const outgoing = request(
      { socketPath: gateway.socketPath, path, method, headers: { ...authorization, ...headers }, agent: false },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (part: string) => (text += part));
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function codeOf({ text }: Answer): unknown {
  return (JSON.parse(text) as { error?: { code?: unknown } }).error?.code;
}

async function claimCode(change: Parameters<DoorStage['credential']>[0], expiresAt = Date.now() + 60_000) {
  const code = randomUUID();
  const id = randomUUID();
  const { record } = await stage.credential({ ...change, id: randomUUID() });
  await stage.control.writeCredential(
    { ...record, id },
    {
      codeHex: digestHex(contentDigest(Buffer.from(code))),
      record: { schema: 'portcullis/claim-code/v1', credentialId: id, expiresAt, usedAt: null },
    },
  );
  return { code, id };
}

function exchange(tenant: string, code: string): Promise<Answer> {
  return call(WORKSPACE_PATHS.exchange, { body: JSON.stringify({ tenant, code }) });
}

describe('[inv-15] a claim code', () => {
  test('is exchanged once, for a bearer and what an executor needs to know', async () => {
    const seat = seatOfPair('claims');
    const { code, id } = await claimCode({ pair: seat.pair });
    const first = await exchange('local', code);
    expect(first.status).toBe(200);
    const grant = JSON.parse(first.text) as ClaimGrant;
    expect(grant).toMatchObject({ tenant: 'local', pair: 'claims', role: 'verifier', workspaceGeneration: 1 });
    expect(grant.executor).toMatchObject({ taskQueue: executorQueue(seat), namespace: 'default' });
    expect(grant.bearer).toContain(id);
    const registered = await call(WORKSPACE_PATHS.register, { bearer: grant.bearer, body: '{"bootId":"boot-0001"}' });
    expect(registered.status).toBe(204);
    const again = await exchange('local', code);
    expect([again.status, codeOf(again)]).toEqual([401, 'claim_code_invalid']);
  });

  test('has one winner among many at once', async () => {
    const { code } = await claimCode({ pair: 'claim-race' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange('local', code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(401)]);
  });

  test('is refused alike when unknown, expired, revoked, or of another tenant', async () => {
    const expired = await claimCode({ pair: 'claims' }, Date.now() - 1_000);
    const revoked = await claimCode({ pair: 'claims' });
    await stage.control.revokeCredential('local', revoked.id);
    const other = await claimCode({ pair: 'claims' });
    const answers = await Promise.all([
      exchange('local', randomUUID()),
      exchange('local', expired.code),
      exchange('local', revoked.code),
      exchange('acme', other.code),
      exchange('nowhere', other.code),
    ]);
    for (const answer of answers) expect([answer.status, answer.text]).toEqual([401, answers[0].text]);
  });

  test("gives an agent a bearer and no executor's part", async () => {
    const { code } = await claimCode({ pair: 'claims', role: 'sentinel', use: 'agent' });
    const { text } = await exchange('local', code);
    expect(JSON.parse(text)).toMatchObject({ role: 'sentinel', executor: null });
  });
});

describe('[inv-19] bad input', () => {
  test.each([
    ['no JSON', 'nonsense', 400, 'json_malformed'],
    ['a repeated key', '{"tenant":"local","tenant":"acme","code":"0123456789abcdef"}', 400, 'json_repeated_key'],
    ['an unknown key', '{"tenant":"local","code":"0123456789abcdef","role":"forge"}', 400, 'schema_invalid'],
    ['bytes that are no text', Buffer.of(0x7b, 0xff, 0x7d), 400, 'json_not_utf8'],
    ['too much', 'x'.repeat(5_000), 413, 'body_too_large'],
  ])('%s is refused by name', async (_, body, status, code) => {
    const answer = await call(WORKSPACE_PATHS.exchange, { body });
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
  });

  test('an unknown path is an error of the catalogue, and so is a malformed one', async () => {
    expect(codeOf(await call('/nowhere', { method: 'GET' }))).toBe('not_found');
    expect(codeOf(await call('/v1/executor/tasks/%zz/started', {}))).toBe('schema_invalid');
  });

  test('a connection that says nothing, too little, or half a request is closed', async () => {
    const closes = async (bytes: string) => {
      const socket = connect(gateway.socketPath);
      socket.on('error', () => {});
      socket.resume();
      if (bytes !== '') socket.write(bytes);
      const at = performance.now();
      await new Promise((resolve) => socket.once('close', resolve));
      return performance.now() - at;
    };
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    const took = await Promise.all([
      closes(''),
      closes('PRI * HT'),
      closes(`${preface}\0\0\0\x04\0\0\0\0\0`),
      closes('GET /healthz HTTP/1.1\r\nhost: x\r\n'),
      closes('POST /v1/claims/exchange HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{'),
    ]);
    expect(Math.max(...took), took.join()).toBeLessThan(8_000);
  });

  test('exchanges over one connection are limited', async () => {
    const statuses = await new Promise<string>((resolve, reject) => {
      const socket = connect(gateway.socketPath);
      let text = '';
      socket.on('error', reject);
      socket.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (text.includes(' 429 ')) resolve(text);
      });
      socket.write('POST /v1/claims/exchange HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}'.repeat(15));
    });
    expect(statuses).toContain('rate_limited');
  });
});

/** A task of the pair that has been admitted and is open. */
async function openTask(pair: string) {
  const request = resolvedRequest({ pair, executor: 'verifier' });
  const view = await stage.store.viewClaim(
    'local',
    pair,
    admissionOf(request, { nextN: 1, nextSequence: 1, now: 0 }).accepted.requestDigest,
  );
  const admission = admissionOf(request, view);
  expect(await stage.store.admit(admission)).toMatchObject({ kind: 'accepted' });
  return admission.accepted;
}

function put(bearer: string, path: string, body: string | Uint8Array): Promise<Answer> {
  return call(path, { method: 'PUT', bearer, body });
}

describe('output', () => {
  test('is stored and then announced, and the same chunk again changes nothing', async () => {
    const { taskId } = await openTask('chunks');
    const { bearer } = await stage.credential({ pair: 'chunks' });
    const path = WORKSPACE_PATHS.chunk(taskId, 'stdout', 0);
    for (let time = 0; time < 2; time += 1) expect((await put(bearer, path, 'hello')).status).toBe(204);
    expect((await put(bearer, WORKSPACE_PATHS.chunk(taskId, 'stdout', 1), 'world')).status).toBe(204);
    expect(Buffer.from((await stage.store.readChunk('local', taskId, 'stdout', 0)) ?? []).toString()).toBe('hello');
    const events = await stage.store.readEvents('local', taskId, 0, 100);
    const output = events.flatMap(({ event }) =>
      event.type === 'output' ? [[event.stream, event.chunk, event.bytes]] : [],
    );
    expect(output).toEqual([
      ['stdout', 0, 5],
      ['stdout', 1, 5],
    ]);
    const changed = await put(bearer, path, 'other');
    expect([changed.status, codeOf(changed)]).toEqual([409, 'state_conflict']);
  });

  test('[inv-05] of another pair, role or generation is not found, and an agent may send none', async () => {
    const { taskId } = await openTask('chunks-own');
    const path = WORKSPACE_PATHS.chunk(taskId, 'stdout', 0);
    const foreign = [
      await stage.credential({ pair: 'chunks-other' }),
      await stage.credential({ pair: 'chunks-own', role: 'forge' }),
      await stage.credential({ pair: 'chunks-own', workspaceGeneration: 2 }),
      await stage.credential({ pair: 'chunks-own', tenant: 'acme' }),
    ];
    for (const { bearer } of foreign) {
      const answer = await put(bearer, path, 'x');
      expect([answer.status, codeOf(answer)]).toEqual([404, 'not_found']);
    }
    const agent = await stage.credential({ pair: 'chunks-own', use: 'agent', role: 'sentinel' });
    expect((await put(agent.bearer, path, 'x')).status).toBe(403);
    expect((await call(path, { method: 'PUT', body: 'x' })).status).toBe(401);
    expect(await stage.store.readChunk('local', taskId, 'stdout', 0)).toBeNull();
  });

  test('[inv-19] is bounded: chunk, stream, and index', async () => {
    const { taskId } = await openTask('chunks-bounded');
    const { bearer } = await stage.credential({ pair: 'chunks-bounded' });
    const at = (index: number | string) => `/v1/executor/tasks/${taskId}/stdout/${index}`;
    expect(codeOf(await put(bearer, at(0), Buffer.alloc(64 * 1024 + 1)))).toBe('body_too_large');
    expect(codeOf(await put(bearer, at(0), ''))).toBe('schema_invalid');
    expect(codeOf(await put(bearer, at('-1'), 'x'))).toBe('schema_invalid');
    expect(codeOf(await put(bearer, at(99_999), 'x'))).toBe('limit');
    for (let index = 0; index < 16; index += 1) {
      expect((await put(bearer, at(index), Buffer.alloc(64 * 1024))).status).toBe(204);
    }
    expect(codeOf(await put(bearer, at(16), 'x'))).toBe('limit');
  });
});

describe('an executor that comes up', () => {
  test('tells the workflows that an earlier boot had started that they are lost, and no others', async () => {
    const seat = seatOfPair('boots');
    const { bearer } = await stage.credential({ pair: seat.pair });
    const { taskId, workflowId } = await openTask(seat.pair);
    await stage.control.takePlace(seat, workflowId);
    const handle = await stage.temporal.workflow.start<() => Promise<string>>('awaitLoss', {
      taskQueue: stage.workflowQueue,
      workflowId,
    });
    const started = (boot: string, workflow: string) =>
      call(WORKSPACE_PATHS.started(taskId), { bearer, body: JSON.stringify({ bootId: boot, workflowId: workflow }) });
    expect((await started('boot-0001', 'verify/local/boots/other/1')).status).toBe(404);
    expect((await started('boot-0001', workflowId)).status).toBe(204);
    const register = (boot: string) =>
      call(WORKSPACE_PATHS.register, { bearer, body: JSON.stringify({ bootId: boot }) });
    expect((await register('boot-0001')).status).toBe(204);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect((await register('boot-0002')).status).toBe(204);
    await expect(handle.result()).resolves.toBe('lost');
    expect((await register('boot-0003')).status, 'one that has ended is no error').toBe(204);
  });
});

describe('git', () => {
  const environment = {
    PATH: process.env['PATH'],
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    HOME: '/nonexistent',
  };

  async function repository(pair: string): Promise<string> {
    const source = join(stage.directory, `source-${pair}`);
    mkdirSync(source, { recursive: true });
    const run = (...args: string[]) => git('git', ['-C', source, ...args], { env: environment });
    await run('init', '--quiet', '--initial-branch', 'main');
    writeFileSync(join(source, 'file'), `of ${pair}\n`);
    await run('add', '.');
    await run('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '-m', 'first');
    const bare = join(stage.settings.repositoriesDir, 'local', `${pair}.git`);
    await git('git', ['clone', '--quiet', '--bare', source, bare], { env: environment });
    return (await run('rev-parse', 'HEAD')).stdout.trim();
  }

  function remote(pair: string): string {
    return `http://127.0.0.1:${gateway.port}${WORKSPACE_PATHS.repository('local', pair)}`;
  }

  function withBearer(bearer: string, ...args: string[]) {
    return git('git', ['-c', `http.extraHeader=Authorization: Bearer ${bearer}`, ...args], {
      env: { ...environment, GIT_TERMINAL_PROMPT: '0' },
    });
  }

  test("serves a commit of the executor's own pair, by its id", async () => {
    const head = await repository('git-own');
    const { bearer } = await stage.credential({ pair: 'git-own' });
    const own = join(stage.directory, 'git-own-clone.git');
    await git('git', ['init', '--quiet', '--bare', own], { env: environment });
    await withBearer(bearer, '--git-dir', own, 'fetch', '--quiet', '--depth', '1', remote('git-own'), head);
    const { stdout } = await git('git', ['--git-dir', own, 'show', `${head}:file`], { env: environment });
    expect(stdout).toBe('of git-own\n');
  });

  test('[inv-05] serves no other pair, no agent, nobody without a bearer, and takes no push', async () => {
    await repository('git-a');
    await repository('git-b');
    const { bearer } = await stage.credential({ pair: 'git-a' });
    const agent = await stage.credential({ pair: 'git-a', use: 'agent', role: 'forge' });
    const info = (path: string, service: string, who?: string) =>
      call(`${path}/info/refs?service=${service}`, { method: 'GET', ...(who === undefined ? {} : { bearer: who }) });
    const [a, b] = [WORKSPACE_PATHS.repository('local', 'git-a'), WORKSPACE_PATHS.repository('local', 'git-b')];
    expect((await info(a, 'git-upload-pack', bearer)).status).toBe(200);
    expect((await info(b, 'git-upload-pack', bearer)).status).toBe(404);
    expect((await info(a, 'git-upload-pack', agent.bearer)).status).toBe(403);
    expect((await info(a, 'git-upload-pack')).status).toBe(401);
    expect((await info(a, 'git-receive-pack', bearer)).status).toBe(403);
    expect((await call(`${a}/git-receive-pack`, { bearer, body: '0000' })).status).toBe(404);
    expect((await call(`${a}/HEAD`, { method: 'GET', bearer })).status).toBe(404);
    const escapes = [
      '/git/local/..%2f..%2fgit-b.git',
      '/git/local/%2e%2e.git',
      '/git/acme/git-a.git',
      '/git/local/git-a.git%2f..%2fgit-b.git',
    ];
    for (const path of escapes) expect((await info(path, 'git-upload-pack', bearer)).status, path).toBe(404);
    await expect(
      withBearer(bearer, '-C', join(stage.directory, 'source-git-a'), 'push', remote('git-a'), 'HEAD:evil'),
    ).rejects.toThrow();
  });
});

describe('health', () => {
  test('is said on the port and on the socket, with what is missing', async () => {
    expect((await fetch(`http://127.0.0.1:${gateway.port}/healthz`)).status).toBe(200);
    const ready = await call('/readyz', { method: 'GET' });
    expect(JSON.parse(ready.text)).toEqual({ ready: true, missing: [] });
    expect((await call('/metrics', { method: 'GET' })).text).toContain('portcullis_door_calls_total');
    const blind = await stage.gateway({ temporalAddress: '127.0.0.1:1' });
    const missing = await fetch(`http://127.0.0.1:${blind.port}/readyz`);
    expect([missing.status, await missing.json()]).toEqual([503, { ready: false, missing: ['temporal'] }]);
  });

  test('comes back in the same place after a restart', async () => {
    const socketPath = join(stage.directory, 'again.sock');
    const first = await stage.gateway({ socketPath });
    await first.close();
    const second = await stage.gateway({ socketPath, port: first.port });
    expect((await fetch(`http://127.0.0.1:${second.port}/healthz`)).status).toBe(200);
  });
});
