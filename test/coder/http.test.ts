/** What every call shares: the token, ids, time-outs, rate limits, answers that are none. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { retryAfterMs } from '../../activities/coder/bounded-fetch.ts';
import { connectCoder } from '../../activities/coder/connect.ts';
import type { CoderExchange } from '../../activities/coder/settings.ts';
import { as, recorded } from './recordings.ts';
import { failing, stage, TOKEN, WORKSPACE } from './stage.ts';

const INFO = '/api/v2/buildinfo';
const limited = as(recorded('11', 1), 'GET', INFO, 429);
const info = recorded('00', 0);

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A server with one answer for everything. */
async function answering(status: number, headers: Record<string, string>, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status, headers).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Notes what it was asked to wait and waits for nothing. */
function clock() {
  const waits: number[] = [];
  return { waits, pause: (ms: number) => Promise.resolve(waits.push(ms)) };
}

test('each request carries the token and an id of ours, and is told with the ids and version of the server', async () => {
  const told: CoderExchange[] = [];
  const { coder, replay } = await stage([recorded('04', 20)], { onExchange: (exchange) => told.push(exchange) });
  expect(await coder.readById(WORKSPACE)).toEqual({ seen: 'deleted' });
  const [received] = replay.received;
  expect(received?.headers).toMatchObject({ 'coder-session-token': TOKEN, 'x-request-id': told[0]?.id });
  expect(told).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      method: 'GET',
      path: '/api/v2/workspaces/{workspace}',
      status: 410,
      serverRequestId: recorded('04', 20).headers?.['x-coder-request-id'],
      serverVersion: 'v2.36.0',
    },
  ]);
});

test('a rate limit is waited out as long as the server says', async () => {
  const { waits, pause } = clock();
  const { coder } = await stage([limited, info], { pause });
  expect(await coder.server()).toMatchObject({ version: 'v2.36.0' });
  expect(waits).toEqual([60_000]);
});

test('a change that hit the rate limit is sent again whole', async () => {
  const extend = recorded('03', 4);
  const { pause } = clock();
  const { coder, replay } = await stage([{ ...limited, method: 'PUT', path: extend.path }, extend, recorded('03', 1)], {
    pause,
  });
  await coder.extend(WORKSPACE, '2026-11-30T23:18:09.818Z');
  expect(replay.received.slice(0, 2).map(({ body }) => body)).toEqual([extend.sent, extend.sent]);
});

test('patience with a rate limit is bounded, and the error says how long to stay away', async () => {
  const { waits, pause } = clock();
  const { coder } = await stage([limited, limited], { pause, rateLimitWaitMs: 65_000 });
  await expect(coder.server()).rejects.toEqual(failing('coder_rate_limited', { seconds: 60 }));
  expect(waits).toEqual([60_000]);
});

test('a Retry-After of 0 does not become a busy loop', async () => {
  const { waits, pause } = clock();
  const now = { ...limited, headers: { 'retry-after': '0' } };
  const { coder } = await stage([now, now, now, now], { pause, rateLimitWaitMs: 3000 });
  await expect(coder.server()).rejects.toEqual(failing('coder_rate_limited'));
  expect(waits).toEqual([1000, 1000, 1000]);
});

test('Retry-After is read as seconds or a date, and is a window when it is absent or nonsense', () => {
  const at = (value?: string) =>
    retryAfterMs(
      new Response(null, { headers: value === undefined ? {} : { 'retry-after': value } }),
      Date.UTC(2026, 0),
    );
  expect([at('7'), at('Thu, 01 Jan 2026 00:00:09 GMT'), at('soon'), at()]).toEqual([7000, 9000, 60_000, 60_000]);
});

test('a wait for a rate limit ends with the signal of the caller and its reason', async () => {
  const stop = new AbortController();
  const { coder } = await stage([limited], { onExchange: () => {}, pause: (_, signal) => endOf(signal, stop) });
  await expect(coder.server({ signal: stop.signal })).rejects.toThrow('cancelled by the workflow');
});

function endOf(signal: AbortSignal, stop: AbortController): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the pause ended')), { once: true });
    stop.abort(new Error('cancelled by the workflow'));
  });
}

test('a server that does not answer is given up in time', async () => {
  const { coder } = await stage([{ exchange: info, fault: 'silent' }], { timeoutMs: 150 });
  await expect(coder.server()).rejects.toEqual(failing('coder_unavailable', { reason: 'no answer in time' }));
});

test('a server that is not there is told by the code of the system', async () => {
  const url = await answering(200, {}, '');
  closing.splice(0).forEach((close) => close());
  const coder = connectCoder({ url, token: TOKEN });
  await expect(coder.server()).rejects.toEqual(failing('coder_unavailable', { reason: 'ECONNREFUSED' }));
});

test('a page of a proxy is not an answer', async () => {
  const url = await answering(200, { 'content-type': 'text/html' }, '<html>Sign in</html>');
  await expect(connectCoder({ url, token: TOKEN }).server()).rejects.toEqual(failing('coder_unreadable'));
});

test('an answer without what is needed names the field', async () => {
  const url = await answering(200, { 'content-type': 'application/json' }, '{"version":"v9"}');
  await expect(connectCoder({ url, token: TOKEN }).server()).rejects.toEqual(
    failing('coder_unreadable', { reason: 'deployment_id invalid_type' }),
  );
});

test('[inv-15] a redirect does not carry the token away', async () => {
  const { replay } = await stage([]);
  const url = await answering(302, { location: `${replay.url}${INFO}` }, '');
  await expect(connectCoder({ url, token: TOKEN }).server()).rejects.toEqual(failing('coder_unavailable'));
  expect(replay.received).toEqual([]);
});

test('[inv-15] no error holds the token', async () => {
  const { coder } = await stage([recorded('02', 23), { exchange: info, fault: 'cut' }]);
  for (const call of [() => coder.readById(WORKSPACE), () => coder.server()]) {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(inspect(error, { depth: 12 })).not.toContain(TOKEN);
  }
});
