import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openModelWay, type ModelWay } from './model-way.ts';

const BEARER = 'pc1.local.id.mac';
let directory: string;
let gateway: Server;
let way: ModelWay;
const asked: { url: string; headers: IncomingHttpHeaders }[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pw-'));
  const gatewaySocket = join(directory, 's');
  gateway = createServer((req, res) => {
    asked.push({ url: req.url ?? '', headers: req.headers });
    res.writeHead(200, { 'content-type': 'text/plain', 'x-of-the-gateway': '1' }).end('answer');
  });
  await new Promise<void>((resolve) => gateway.listen(gatewaySocket, resolve));
  way = await openModelWay({ gatewaySocket, bearer: BEARER });
});
afterAll(async () => {
  way.close();
  gateway.close();
  gateway.closeAllConnections();
  await rm(directory, { recursive: true });
});
beforeEach(() => {
  asked.length = 0;
});

function ask(path: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`${way.url}${path}`, { method: 'POST', headers, body: '{}' });
}

test('[inv-15] a command shows the token of its turn, and what travels on is the bearer that it was not told', async () => {
  for (const shown of [{ authorization: `Bearer ${way.token}` }, { 'x-api-key': way.token }]) {
    const answer = await ask('/v1/messages', { ...shown, 'anthropic-beta': 'a', cookie: 'b' });
    expect([answer.status, await answer.text(), answer.headers.get('x-of-the-gateway')]).toEqual([200, 'answer', null]);
  }
  expect(asked.map(({ url }) => url)).toEqual(['/model/v1/messages', '/model/v1/messages']);
  for (const { headers } of asked) {
    expect(headers).toMatchObject({ authorization: `Bearer ${BEARER}`, 'anthropic-beta': 'a' });
    expect([headers['x-api-key'], headers.cookie]).toEqual([undefined, undefined]);
  }
  expect(way.token).not.toContain('pc1.');
});

test('[inv-05] without the token, or for anything but a call of a model, nothing travels on', async () => {
  const token = { authorization: `Bearer ${way.token}` };
  expect((await ask('/v1/messages', { authorization: 'Bearer turn-x' })).status).toBe(401);
  expect((await ask('/v1/messages', {})).status).toBe(401);
  expect((await ask('/v1/harness/submit/ready', token)).status).toBe(403);
  expect((await ask('/v1/files', token)).status).toBe(403);
  expect(asked).toEqual([]);
});
