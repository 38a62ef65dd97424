/** What A2A 1.0 asks of every operation before it does anything: card, version, extension, bodies; on both bindings. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import '../support/quiet.ts';
import { VERIFY_EXTENSION } from '../../schemas/verify/a2a.ts';
import {
  BINDINGS,
  exchange,
  field,
  message,
  operations,
  PROTOCOL,
  read,
  type Binding,
  type Operation,
} from './wire.ts';
import { ask, openWorld, type World } from './world.ts';

const PAIR = 'protocol';
let world: World;
let authorization = '';
let task = '';

beforeAll(async () => {
  world = await openWorld('a2a-protocol');
  const bearer = await world.pair(PAIR);
  authorization = `Bearer ${bearer}`;
  task = (await world.client(bearer).sendVerify(ask(PAIR), { wait: true })).id;
});
afterAll(() => world.close());

const named = (name: string): Operation => {
  const found = operations(task, ask(PAIR)).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found;
};
const NAMES = operations('x', ask(PAIR)).map(({ name }) => name);

describe('the card', () => {
  test('is public, names HTTP+JSON before JSON-RPC and both where they answer', async () => {
    const card = await read(await fetch(`${world.url}/.well-known/agent-card.json`));
    expect(card.status).toBe(200);
    expect(card.body).toMatchObject({
      supportedInterfaces: [
        { url: `${world.url}/a2a/v1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url: `${world.url}/a2a/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ],
      capabilities: { streaming: true, extensions: [{ uri: VERIFY_EXTENSION, required: true }] },
      securityRequirements: [{ schemes: { bearer: {} } }],
    });
    const etag = card.headers.get('etag') ?? '';
    const again = await fetch(`${world.url}/.well-known/agent-card.json`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
  });

  test('echoes no host that is not one', async () => {
    const { request } = await import('node:http');
    const body = await new Promise<string>((resolve, reject) => {
      const call = request(`${world.url}/.well-known/agent-card.json`, { headers: { host: 'x"><script>' } }, (res) => {
        let text = '';
        res.setEncoding('utf8').on('data', (part: string) => (text += part));
        res.on('end', () => resolve(text));
      });
      call.on('error', reject).end();
    });
    expect(body).not.toContain('<script');
  });
});

describe.each(BINDINGS)('on %s', (binding) => {
  const send = (operation: Operation, headers: Readonly<Record<string, string>>) =>
    exchange(world.url, binding, operation, { authorization, ...headers });

  test.each(NAMES)('%s without a version is 0.3, which is refused with a sentence', async (name) => {
    const sent = await send(named(name), { 'A2A-Extensions': VERIFY_EXTENSION });
    expect(sent.code).toBe('version_not_supported');
    expect(JSON.stringify(sent.body)).toContain('A2A version 0.3 is not spoken here; 1.0 is.');
    expect(field(field(sent.body, 'error'), 'code')).toBe(binding === 'JSONRPC' ? -32009 : 400);
  });

  test.each(NAMES)('%s without the extension is refused', async (name) => {
    const sent = await send(named(name), { 'A2A-Version': '1.0', 'A2A-Extensions': 'urn:other' });
    expect(sent.code).toBe('extension_required');
    expect(field(field(sent.body, 'error'), 'code')).toBe(binding === 'JSONRPC' ? -32008 : 400);
  });

  test.each(NAMES)('%s echoes the extension, whatever it answers', async (name) => {
    const sent = await send(named(name), { ...PROTOCOL, 'A2A-Extensions': `urn:other, ${VERIFY_EXTENSION}` });
    expect(sent.headers.get('a2a-extensions')).toBe(VERIFY_EXTENSION);
  });

  test.each(NAMES.filter((name) => name.includes('PushNotification')))('%s: push is off', async (name) => {
    const sent = await send(named(name), PROTOCOL);
    expect(sent.code).toBe('push_not_supported');
    expect(field(field(sent.body, 'error'), 'code')).toBe(binding === 'JSONRPC' ? -32003 : 400);
  });

  test('the version may come in the query', async () => {
    const { http, rpc } = named('GetTask');
    const headers = { authorization, 'A2A-Extensions': VERIFY_EXTENSION, 'content-type': 'application/json' };
    const query = 'A2A-Version=1.0';
    const response =
      binding === 'JSONRPC'
        ? fetch(`${world.url}/a2a/rpc?${query}`, {
            method: 'POST',
            headers,
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...rpc }),
          })
        : fetch(`${world.url}/a2a/v1${http.path}?${query}`, { headers });
    expect((await read(await response)).code).toBeNull();
  });

  test.each([
    ['larger than allowed', 'x'.repeat(300_000), 'body_too_large'],
    ['no JSON', '{', 'json_malformed'],
    ['a key twice', '{"id":1,"id":2}', 'json_repeated_key'],
    ['too deep', '['.repeat(500) + ']'.repeat(500), 'json_too_deep'],
  ])('[inv-19] a body that is %s gets its name, in JSON', async (_what, body, code) => {
    const sent = await post(binding, body);
    expect(sent.code).toBe(code);
    expect(sent.headers.get('content-type')).toContain('json');
    if (code === 'body_too_large') expect(sent.status).toBe(413);
  });

  test('[inv-19] a body that is not UTF-8 gets its name', async () => {
    expect((await post(binding, Buffer.from([0x22, 0xff, 0x22]))).code).toBe('json_not_utf8');
  });

  test('a body of another media type is refused', async () => {
    expect((await post(binding, 'a=b', 'application/x-www-form-urlencoded')).code).toBe('content_type_not_supported');
  });

  const asked = ask(PAIR, { attempt: 99 });
  test.each([
    ['a text part', { ...message(asked), parts: [{ text: 'run the tests' }] }, 'content_type_not_supported'],
    ['two parts', { ...message(asked), parts: [{ data: asked }, { data: asked }] }, 'content_type_not_supported'],
    ['no part', { ...message(asked), parts: [] }, 'content_type_not_supported'],
    [
      'a part of another media type',
      { ...message(asked), parts: [{ data: asked, mediaType: 'text/x' }] },
      'content_type_not_supported',
    ],
    ['no messageId', { ...message(asked), messageId: '' }, 'schema_invalid'],
    ['the role of an agent', { ...message(asked), role: 'ROLE_AGENT' }, 'schema_invalid'],
    ['a context of its own making', { ...message(asked), contextId: 'mine' }, 'schema_invalid'],
    ['an unknown key', { ...message(asked), parts: [{ data: { ...asked, env: {} } }] }, 'schema_invalid'],
    ['a task that is not there', { ...message(asked), taskId: 'nothing' }, 'not_found'],
    ['a shape that is none', { ...message(asked), parts: [null] }, 'schema_invalid'],
  ])('a message with %s is refused by name and starts nothing', async (_what, sent, code) => {
    const params = { message: sent, configuration: { returnImmediately: true } };
    const before = await tasksOfPair();
    for (const name of ['SendMessage', 'SendStreamingMessage']) {
      const operation = named(name);
      const answer = await send(
        { ...operation, http: { ...operation.http, body: params }, rpc: { ...operation.rpc, params } },
        PROTOCOL,
      );
      expect({ name, code: answer.code }).toEqual({ name, code });
    }
    expect(await tasksOfPair()).toEqual(before);
  });

  test('a further message to a task is not supported, and push in a send is off', async () => {
    const operation = named('SendMessage');
    const follow = { message: { ...message(asked), taskId: task } };
    const push = {
      message: message(asked),
      configuration: { taskPushNotificationConfig: { url: 'http://127.0.0.1:9' } },
    };
    for (const [params, code] of [
      [follow, 'unsupported_operation'],
      [push, 'push_not_supported'],
    ] as const) {
      const changed = { ...operation, http: { ...operation.http, body: params }, rpc: { ...operation.rpc, params } };
      expect((await send(changed, PROTOCOL)).code).toBe(code);
    }
  });

  const post = async (on: Binding, body: string | Buffer, type = 'application/json') =>
    read(
      await fetch(on === 'JSONRPC' ? `${world.url}/a2a/rpc` : `${world.url}/a2a/v1/message:send`, {
        method: 'POST',
        headers: { authorization, 'content-type': type, ...PROTOCOL },
        body,
      }),
    );
});

async function tasksOfPair(): Promise<readonly string[]> {
  const tasks = await world.store.listTasks(world.tenant, PAIR, { limit: 100, before: null });
  return tasks.map(({ taskId }) => taskId);
}

describe('JSON-RPC alone', () => {
  const rpc = async (body: unknown) =>
    read(
      await fetch(`${world.url}/a2a/rpc`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', ...PROTOCOL },
        body: JSON.stringify(body),
      }),
    );

  test.each([
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'GetTask', params: {} }], -32600],
    ['a call without an id', { jsonrpc: '2.0', method: 'GetTask', params: { id: 'x' } }, -32600],
    ['another JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'GetTask', params: {} }, -32600],
    ['a method of 0.3', { jsonrpc: '2.0', id: 1, method: 'message/send', params: {} }, -32601],
    ['params that are a list', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: [] }, -32602],
  ])('%s is refused', async (_what, body, code) => {
    expect(field(field((await rpc(body)).body, 'error'), 'code')).toBe(code);
  });

  test('the answer carries the id of the call, text or number', async () => {
    for (const id of ['one', 7]) {
      const { body } = await rpc({ jsonrpc: '2.0', id, method: 'GetTask', params: { id: task } });
      expect(body).toMatchObject({ jsonrpc: '2.0', id, result: { id: task } });
    }
  });
});

test('a path that is no operation is answered in JSON', async () => {
  const sent = await read(await fetch(`${world.url}/a2a/v1/nothing`, { headers: { authorization, ...PROTOCOL } }));
  expect(sent).toMatchObject({ status: 404, code: 'not_found' });
});
