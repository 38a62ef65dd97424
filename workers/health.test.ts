import { Counter, Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { portcullisError } from '../schemas/errors.ts';
import { startHealthServer, type HealthServer, type ReadinessCheck } from './health.ts';

let server: HealthServer | undefined;
afterEach(() => server?.close());

async function serve(checks: Record<string, ReadinessCheck>, registry = new Registry()): Promise<string> {
  server = await startHealthServer({ host: '127.0.0.1', port: 0, registry, checks, checkTimeoutMs: 100 });
  return `http://127.0.0.1:${server.port}`;
}

test('health answers whatever the dependencies do', async () => {
  const url = await serve({ store: () => Promise.reject(new Error('away')) });
  const response = await fetch(`${url}/healthz`);
  expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
});

test('ready when every dependency serves', async () => {
  const url = await serve({ store: () => Promise.resolve(), temporal: () => Promise.resolve() });
  const response = await fetch(`${url}/readyz`);
  const body: unknown = await response.json();
  expect([response.status, body]).toEqual([200, { ready: true, checks: { store: 'ok', temporal: 'ok' } }]);
});

test('not ready names what fails, by its code and without its text', async () => {
  const url = await serve({
    store: () => Promise.reject(portcullisError('store_unavailable', { reason: 'refused' })),
    temporal: () => Promise.reject(new Error('password=hunter2')),
    slow: () => new Promise(() => {}),
    throwing: () => {
      throw new Error('at once');
    },
  });
  const response = await fetch(`${url}/readyz`);
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    ready: false,
    checks: {
      store: 'store_unavailable',
      temporal: 'internal',
      slow: 'no answer within 100 ms',
      throwing: 'internal',
    },
  });
});

test('metrics are those of the registry', async () => {
  const registry = new Registry();
  new Counter({ name: 'portcullis_tries_total', help: 'tries', registers: [registry] }).inc(3);
  const response = await fetch(`${await serve({}, registry)}/metrics`);
  expect(response.headers.get('content-type')).toContain('text/plain');
  expect(await response.text()).toContain('portcullis_tries_total 3');
});

test('other paths and methods are refused', async () => {
  const url = await serve({});
  expect((await fetch(`${url}/`)).status).toBe(404);
  expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(405);
});

test('a port that is taken is a bad setting', async () => {
  await serve({});
  const taken = { host: '127.0.0.1', port: server?.port ?? 0, registry: new Registry(), checks: {} };
  await expect(startHealthServer(taken)).rejects.toMatchObject({ code: 'setting_invalid' });
});
