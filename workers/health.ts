/**
 * Health of a worker, over HTTP: `/healthz` (the process answers), `/readyz` (what it needs answers, named one by one) and
 * `/metrics` (Prometheus).
 *
 * @example const health = await startHealthServer({ host, port: 0, registry, checks: { store: () => store.now() } })
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { asPortcullisError, portcullisError } from '../schemas/errors.ts';

/** Resolves when the dependency serves; rejects when it does not. */
export type ReadinessCheck = () => Promise<unknown>;

export interface HealthSettings {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly registry: Registry;
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** How long one check may take, milliseconds. Default 2000. */
  readonly checkTimeoutMs?: number;
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws `setting_invalid` when the port cannot be listened on */
export async function startHealthServer(settings: HealthSettings): Promise<HealthServer> {
  const server = createServer((request, response) => void answer(settings, request, response));
  // Nobody needs long for a GET, and a slow client must not hold a socket for ever.
  server.requestTimeout = 5_000;
  server.headersTimeout = 5_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(portcullisError('setting_invalid', { name: 'health.port', reason: `cannot be used: ${error.message}` })),
    );
    server.listen(settings.port, settings.host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : settings.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The outcome of each check: `ok`, or why it does not serve. */
export async function readiness(
  checks: Readonly<Record<string, ReadinessCheck>>,
  timeoutMs: number,
): Promise<{ readonly ready: boolean; readonly checks: Readonly<Record<string, string>> }> {
  const outcomes = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await outcome(check, timeoutMs)] as const),
  );
  return { ready: outcomes.every(([, text]) => text === 'ok'), checks: Object.fromEntries(outcomes) };
}

async function answer(settings: HealthSettings, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '/').split('?')[0];
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    send(response, 405, 'application/json', JSON.stringify({ error: 'GET only' }));
    return;
  }
  switch (path) {
    case '/healthz':
      send(response, 200, 'application/json', JSON.stringify({ status: 'ok' }));
      return;
    case '/readyz': {
      const state = await readiness(settings.checks, settings.checkTimeoutMs ?? 2_000);
      send(response, state.ready ? 200 : 503, 'application/json', JSON.stringify(state));
      return;
    }
    case '/metrics':
      send(response, 200, settings.registry.contentType, await settings.registry.metrics());
      return;
    default:
      send(response, 404, 'application/json', JSON.stringify({ error: 'not found' }));
  }
}

async function outcome(check: ReadinessCheck, timeoutMs: number): Promise<string> {
  const timeUp = Promise.withResolvers<string>();
  const timer = setTimeout(() => timeUp.resolve(`no answer within ${timeoutMs} ms`), timeoutMs);
  try {
    return await Promise.race([
      Promise.resolve()
        .then(check)
        .then(() => 'ok'),
      timeUp.promise,
    ]);
  } catch (error) {
    // The catalogue's code says enough; the text of a foreign error may name what it should not.
    return asPortcullisError(error).code;
  } finally {
    clearTimeout(timer);
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
}
