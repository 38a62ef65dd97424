/** The gateway's way to a model: who may ask, what may be asked, and what a compromised workspace could try there. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { pollUntil } from '../support/poll.ts';
import { openModelStage, type ModelStage } from './model-stage.ts';

let stage: ModelStage;

beforeAll(async () => {
  stage = await openModelStage(inject('temporalAddress'), 'true', { modelLimits: { lookMs: 50, perCredential: 2 } });
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.host.asked.length = 0;
  stage.host.answerWith = null;
});

interface Seated {
  readonly pair: string;
  readonly id: string;
  readonly bearer: string;
}

/** An agent of a pair of its own that is asked something. */
async function seated(change: { readonly role?: 'forge' | 'sentinel'; readonly use?: 'agent' | 'executor' } = {}) {
  const pair = `M-${randomBytes(4).toString('hex')}`;
  const { role = 'forge', use = 'agent' } = change;
  await stage.harness.assign(pair, { role });
  const { record, bearer } = await stage.harness.door.credential({ pair, role, use, execution: 'e1' });
  return { pair, id: record.id, bearer, record };
}

const QUESTION = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hello' }] };

/** One request over the gateway's socket, its bytes as given; all that comes back until it is closed. */
async function raw(request: string): Promise<string> {
  const socket = createConnection({ path: stage.gateway.socketPath });
  // A request that is never whole is never answered.
  socket.setTimeout(3_000, () => socket.destroy());
  socket.on('error', () => {});
  let heard = '';
  socket.setEncoding('utf8').on('data', (part: string) => (heard += part));
  socket.write(request);
  await once(socket, 'close');
  return heard;
}

interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function send({ bearer }: Pick<Seated, 'bearer'>, sent: Sent = {}) {
  const { method = 'POST', target = '/model/v1/messages', headers = {}, body = JSON.stringify(QUESTION) } = sent;
  const all = {
    host: 'gateway',
    authorization: `Bearer ${bearer}`,
    'content-type': 'application/json',
    connection: 'close',
    ...(body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = await raw(`${method} ${target} HTTP/1.1\r\n${head.join('')}\r\n${body}`);
  return { status: Number(answer.slice(9, 12)), answer, code: /"code":"([a-z_]+)"/.exec(answer)?.[1] ?? null };
}

describe('who may ask a model', () => {
  test('[inv-15] an agent that is asked something is answered, and the host sees the installation’s key alone', async () => {
    const agent = await seated();
    const { status, answer } = await send(agent, {
      headers: {
        'x-api-key': 'stolen',
        'anthropic-version': '2023-06-01',
        cookie: 'a=b',
        'x-forwarded-for': '1.2.3.4',
      },
    });
    expect([status, answer.includes('There is nothing to be said.')]).toEqual([200, true]);
    expect(stage.host.asked).toHaveLength(1);
    const headers = stage.host.asked[0]?.headers ?? {};
    expect(headers['x-api-key']).toBe(stage.host.key);
    expect(Object.keys(headers).sort()).toEqual(
      'accept-encoding anthropic-version connection content-length content-type host user-agent x-api-key'.split(' '),
    );
  });

  test('[inv-05] an executor, a verifier, an operator and nobody are refused by name', async () => {
    const executor = await seated({ use: 'executor' });
    expect(await send(executor)).toMatchObject({ status: 403, code: 'not_allowed' });
    const verifier = await stage.harness.door.credential({ role: 'verifier', use: 'agent', execution: 'e1' });
    expect(await send(verifier)).toMatchObject({ status: 403, code: 'not_allowed' });
    const operator = await stage.harness.door.credential({ pair: '', use: 'operator', workspace: '', execution: '' });
    expect(await send(operator)).toMatchObject({ status: 403, code: 'not_allowed' });
    expect(await send({ bearer: 'pc1.local.x.y' })).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(stage.host.asked).toEqual([]);
  });

  test('[inv-04] one of which nothing is asked, of an earlier generation or execution, spends nothing', async () => {
    const idle = await stage.harness.door.credential({ pair: 'M-idle', role: 'forge', use: 'agent', execution: 'e1' });
    expect(await send(idle)).toMatchObject({ status: 403, code: 'not_allowed' });
    const { pair } = await seated();
    for (const change of [{ workspaceGeneration: 2 }, { execution: 'e0' }]) {
      const late = await stage.harness.door.credential({
        pair,
        role: 'forge',
        use: 'agent',
        execution: 'e1',
        ...change,
      });
      expect(await send(late)).toMatchObject({ status: 403, code: 'not_allowed' });
    }
    expect(stage.host.asked).toEqual([]);
  });

  test('[inv-15] a revoked credential is refused, and what it was being told is cut', async () => {
    const agent = await seated();
    let closed = false;
    stage.host.answerWith = (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: first\n\n');
      res.once('close', () => (closed = true));
    };
    const under = send(agent);
    await pollUntil(() => stage.host.asked.length > 0, { what: 'the call to reach the host', deadlineMs: 5_000 });
    await stage.harness.door.control.revokeCredential('local', agent.id);
    expect((await under).answer).toContain('data: first');
    await pollUntil(() => closed, { what: 'the host to be left', deadlineMs: 5_000 });
    expect(await send(agent)).toMatchObject({ status: 401, code: 'unauthenticated' });
  });
});

describe('what may be asked', () => {
  test.each([
    ['another host, in absolute form', { target: 'http://169.254.169.254/model/v1/messages' }],
    ['another host behind a slash', { target: '/model//169.254.169.254/v1/messages' }],
    ['a path that leads out', { target: '/model/v1/messages/../../admin' }],
    ['the same, encoded', { target: '/model/v1/messages/%2e%2e/%2e%2e/admin' }],
    ['an encoded slash', { target: '/model/v1%2Fmessages' }],
    ['a backslash', { target: '/model/v1\\messages' }],
    ['a query of one’s own', { target: '/model/v1/messages?beta=true&key=1' }],
    ['a fragment', { target: '/model/v1/messages#x' }],
    ['another role’s host by name', { target: '/model/other/v1/messages' }],
    ['files of the host', { target: '/model/v1/files', method: 'GET', body: '' }],
    ['what an earlier call left there', { target: '/model/v1/responses/resp_1', method: 'GET', body: '' }],
    ['its organisation', { target: '/model/v1/organizations/api_keys', method: 'GET', body: '' }],
    ['a method that echoes', { method: 'TRACE', body: '' }],
    ['a GET with a request hidden in it', { target: '/model/v1/models', method: 'GET', body: 'GET /admin HTTP/1.1' }],
    ['a packed body', { headers: { 'content-encoding': 'gzip' } }],
  ] as const)('[inv-05] %s reaches nobody', async (_, sent) => {
    const agent = await seated();
    const { status, code } = await send(agent, sent);
    // What Node itself cannot read as a request has no code of ours.
    expect([400, 403, 404, 405]).toContain(status);
    if (status === 403) expect(code).toBe('model_refused');
    expect(stage.host.asked).toEqual([]);
  });

  test.each([
    ['two lengths', 'content-length: 3\r\ncontent-length: 300\r\n\r\nabc'],
    ['a length and chunks', 'content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a header folded over two lines', 'x-a: 1\r\n x-api-key: 2\r\n\r\n'],
    ['a bare newline in a header', 'accept: a\nx-api-key: b\r\n\r\n'],
  ])('[inv-19] a request with %s is smuggled past nobody', async (_, rest) => {
    const { bearer } = await seated();
    await raw(`POST /model/v1/messages HTTP/1.1\r\nhost: g\r\nauthorization: Bearer ${bearer}\r\n${rest}`);
    expect(stage.host.asked).toEqual([]);
  });

  test('[inv-05] a host that is asked to search, connect or fetch for its caller is not asked', async () => {
    const agent = await seated();
    const source = { type: 'url', url: 'https://evil.example/?leak=1' };
    const changes: readonly object[] = [
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      { mcp_servers: [{ type: 'url', url: 'https://evil.example', name: 'x' }] },
      { messages: [{ role: 'user', content: [{ type: 'image', source }] }] },
    ];
    for (const change of changes) {
      const body = JSON.stringify({ ...QUESTION, ...change });
      expect(await send(agent, { body })).toMatchObject({ status: 403, code: 'model_refused' });
    }
    expect(stage.host.asked).toEqual([]);
  });

  test('[inv-19] a body that two readers could read differently, or that is none, is refused by name', async () => {
    const agent = await seated();
    expect(await send(agent, { body: '{"model":"a","model":"b"}' })).toMatchObject({ code: 'json_repeated_key' });
    expect(await send(agent, { body: 'model=a' })).toMatchObject({ code: 'json_malformed' });
    const announced = { headers: { 'content-length': String(17 * 1024 * 1024) } };
    expect(await send(agent, announced)).toMatchObject({ status: 413, code: 'body_too_large' });
    expect(stage.host.asked).toEqual([]);
  });

  test('[inv-19] an agent asks so many at once', async () => {
    const agent = await seated();
    const held: (() => void)[] = [];
    stage.host.answerWith = (_, res) => void held.push(() => res.end('{}'));
    const under = [send(agent), send(agent)];
    await pollUntil(() => held.length === 2, { what: 'two calls to be under way', deadlineMs: 5_000 });
    expect(await send(agent)).toMatchObject({ status: 429, code: 'rate_limited' });
    for (const release of held) release();
    expect((await Promise.all(under)).map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('what comes back', () => {
  test('[inv-15] the key is in no answer, header, error or log, whatever the host says', async () => {
    const agent = await seated();
    const { key } = stage.host;
    const encoded = Buffer.from(`x-api-key: ${key}`).toString('base64');
    stage.host.answerWith = (_, res) => {
      res.writeHead(400, { 'x-request-id': key, 'x-echo': key, 'set-cookie': `k=${key}`, 'retry-after': '7' });
      // In two parts, so that neither has it whole.
      res.write(`you sent ${key.slice(0, 9)}`);
      setTimeout(() => res.end(`${key.slice(9)} or ${encoded}`), 30);
    };
    const { status, answer: framed } = await send(agent);
    const answer = framed.replaceAll(/\r\n[0-9a-f]+\r\n/g, '');
    expect([status, answer.includes('retry-after: 7'), answer.includes('you sent ****')]).toEqual([400, true, true]);
    for (const code of [401, 403]) {
      stage.host.answerWith = (_, res) => void res.writeHead(code).end(`the key ${key.slice(0, 12)}… is wrong`);
      expect(await send(agent)).toMatchObject({ status: 403, code: 'model_refused' });
    }
    const all = answer + stage.logs();
    expect([all.includes(key), all.includes(key.slice(0, 16)), all.includes(encoded.slice(20, 40))]).toEqual(
      Array(3).fill(false),
    );
  });

  test('[inv-15] a redirect is not followed', async () => {
    const agent = await seated();
    stage.host.answerWith = (_, res) => void res.writeHead(307, { location: `${stage.host.url}/v1/messages` }).end();
    expect(await send(agent)).toMatchObject({ status: 403, code: 'model_refused' });
    expect(stage.host.asked).toHaveLength(1);
  });

  test('events pass as they come, not when all of them have', async () => {
    const { bearer } = await seated();
    const went = Promise.withResolvers<() => void>();
    stage.host.answerWith = (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: first\n\n');
      went.resolve(() => res.end('data: last\n\n'));
    };
    const socket = createConnection({ path: stage.gateway.socketPath });
    const body = JSON.stringify(QUESTION);
    let heard = '';
    socket.setEncoding('utf8').on('data', (part: string) => (heard += part));
    socket.write(
      `POST /model/v1/messages HTTP/1.1\r\nhost: g\r\nauthorization: Bearer ${bearer}\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const finish = await went.promise;
    await pollUntil(() => heard.includes('data: first'), { what: 'the first event', deadlineMs: 5_000 });
    finish();
    await pollUntil(() => heard.includes('data: last'), { what: 'the last event', deadlineMs: 5_000 });
    socket.destroy();
  });

  test('each call is logged with ids, bytes and status, and nothing of what was said', async () => {
    const agent = await seated();
    await send(agent, {
      body: JSON.stringify({ ...QUESTION, messages: [{ role: 'user', content: 'a secret plan' }] }),
    });
    await pollUntil(() => stage.logs().includes(agent.id), { what: 'the line of the call', deadlineMs: 5_000 });
    const line = stage
      .logs()
      .split('\n')
      .find((one) => one.includes(agent.id) && one.includes('model call'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      holder: `local/${agent.pair}/forge/1`,
      credential: agent.id,
      host: 'default',
      path: '/v1/messages',
      status: 200,
      refusal: null,
    });
    expect(stage.logs()).not.toContain('secret plan');
  });
});

test('[inv-19] the kill switch stops calls of models, those under way included', async () => {
  const agent = await seated();
  stage.host.answerWith = (_, res) => void res.writeHead(200).write('data: first\n\n');
  const under = send(agent);
  await pollUntil(() => stage.host.asked.length > 0, { what: 'the call to reach the host', deadlineMs: 5_000 });
  const { control } = stage.harness.door;
  await control.writeKillSwitch('local', { ...KILLED, on: true });
  expect((await under).answer).toContain('data: first');
  expect(await send(agent)).toMatchObject({ code: 'kill_switch' });
  await control.writeKillSwitch('local', { ...KILLED, on: false });
});

test('[inv-19] what a model answers and nobody reads keeps no place once it is cut', async () => {
  const agent = await seated();
  stage.host.answerWith = (_, res) => void res.writeHead(200).end(Buffer.alloc(24 * 1024 * 1024));
  const body = JSON.stringify(QUESTION);
  const head = `authorization: Bearer ${agent.bearer}\r\ncontent-length: ${body.length}`;
  for (let n = 0; n < 2; n += 1) {
    const socket = createConnection({ path: stage.gateway.socketPath });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    socket.write(`POST /model/v1/messages HTTP/1.1\r\nhost: g\r\n${head}\r\n\r\n${body}`);
    await once(socket, 'data');
    socket.pause();
  }
  stage.host.answerWith = null;
  expect(await send(agent)).toMatchObject({ status: 429, code: 'rate_limited' });
  const { control } = stage.harness.door;
  await control.writeKillSwitch('local', { ...KILLED, on: true });
  // The egress says so of a call when nothing of it is under way any more.
  const ended = () =>
    stage
      .logs()
      .split('\n')
      .filter((line) => line.includes(agent.id) && line.includes('model call'));
  await pollUntil(() => ended().length >= 2, { what: 'both calls to be cut', deadlineMs: 15_000 });
  await control.writeKillSwitch('local', { ...KILLED, on: false });
  await pollUntil(async () => (await send(agent)).status === 200, { what: 'a place to be free', deadlineMs: 5_000 });
});

const KILLED = { schema: 'portcullis/kill-switch/v1', reason: 'drill', by: 'c-1', at: 1 } as const;
