/**
 * The egress: a filtering reverse proxy for package registries by their logical names, and for models by their roles' hosts.
 * Permitted paths only, for callers that hold the key (the gateway), each request logged. It is the one process with the
 * credentials of registries and models.
 *
 * @example const egress = await startEgress(settings); egress.port; await egress.close()
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Places } from '../../policies/places.ts';
import {
  EGRESS_ANSWER_HEADERS,
  EGRESS_HEADERS,
  EGRESS_REFUSED_HEADER,
  parseRegistryPath,
} from '../../schemas/egress.ts';
import { asPortcullisError, portcullisError, type PortcullisError } from '../../schemas/errors.ts';
import { MODEL_PREFIX } from '../../schemas/model-route.ts';
import { drained } from './drained.ts';
import { createFileLinks } from './file-links.ts';
import { holdsKey } from './holds-key.ts';
import { createModelCaller, DEFAULT_MODEL_LIMITS, type ModelCaller } from './model-call.ts';
import { takeModelCall } from './take-model-call.ts';
import { routeOf, type Route, type RouteFacts } from './routes.ts';
import { DEFAULT_EGRESS_LIMITS, type EgressLimits, type EgressSettings } from './settings.ts';
import { createUpstreamClient, readAll, type UpstreamClient } from './upstream.ts';

export interface RunningEgress {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws `setting_invalid` when it cannot listen */
export async function startEgress(settings: EgressSettings): Promise<RunningEgress> {
  const limits = { ...DEFAULT_EGRESS_LIMITS, ...settings.limits };
  const client = createUpstreamClient(limits);
  const models = createModelCaller(settings.models ?? new Map(), { ...DEFAULT_MODEL_LIMITS, ...settings.modelLimits });
  const egress: Egress = {
    settings,
    models,
    limits,
    client,
    places: new Places(limits.total, limits.perHolder),
    facts: {
      upstreams: settings.upstreams,
      links: createFileLinks(settings.key),
      cratesTemplate: onceUntilItWorks(() => readCratesTemplate(settings, client, limits)),
    },
  };
  const server = createServer(
    { maxHeaderSize: 16 * 1024, requestTimeout: 30_000 },
    (req, res) => void take(egress, req, res),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(portcullisError('setting_invalid', { name: 'egress address', reason: error.message }, error)),
    );
    server.listen(settings.port, settings.host, () => resolve());
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw portcullisError('internal');
  return {
    port: address.port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      client.close();
      models.close();
      await closed;
    },
  };
}

interface Egress {
  readonly settings: EgressSettings;
  readonly models: ModelCaller;
  readonly limits: EgressLimits;
  readonly client: UpstreamClient;
  readonly places: Places;
  readonly facts: RouteFacts;
}

async function take(egress: Egress, req: IncomingMessage, res: ServerResponse): Promise<void> {
  // Who watches this process asks without the key; there is nothing to be learned here.
  if (req.url === '/healthz' || req.url === '/readyz') {
    res.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
    return;
  }
  if (req.url?.startsWith(`${MODEL_PREFIX}/`) === true) {
    await takeModelCall(egress.models, egress.settings, req, res);
    return;
  }
  const began = performance.now();
  const holder = String(req.headers[EGRESS_HEADERS.holder] ?? '').slice(0, 256);
  let sent = 0;
  try {
    if (!holdsKey(req.headers[EGRESS_HEADERS.key], egress.settings.key)) throw portcullisError('unauthenticated');
    sent = await answer(egress, holder, req, res);
  } catch (thrown) {
    const error = asPortcullisError(thrown);
    if (res.headersSent) res.destroy();
    else refuse(res, error);
    if (error.code === 'internal') egress.settings.logger.error({ err: thrown }, 'a request failed unexpectedly');
  }
  const path = (req.url ?? '').slice(0, 512);
  const ms = Math.round(performance.now() - began);
  egress.settings.logger.info({ holder, method: req.method, path, status: res.statusCode, bytes: sent, ms }, 'request');
}

/** Bytes that were passed on. */
async function answer(egress: Egress, holder: string, req: IncomingMessage, res: ServerResponse): Promise<number> {
  const { method } = req;
  if (method !== 'GET' && method !== 'HEAD')
    throw portcullisError('egress_refused', { reason: 'only GET and HEAD pass' });
  const path = parseRegistryPath(req.url ?? '');
  if (path === null) throw portcullisError('egress_refused', { reason: 'no such path of a registry' });
  const leave = egress.places.take(holder);
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(egress.limits.answerMs)]);
  try {
    const route = await routeOf(path, egress.facts);
    if (route === null) throw portcullisError('egress_refused', { reason: 'no index named this file' });
    return await serve(egress, route, { method, req, res, signal });
  } finally {
    leave();
  }
}

interface Serving {
  readonly method: 'GET' | 'HEAD';
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly signal: AbortSignal;
}

async function serve({ client, limits }: Egress, route: Route, serving: Serving): Promise<number> {
  const { method, req, res, signal } = serving;
  if (route.kind === 'answer') {
    res.writeHead(200, { 'content-type': route.contentType }).end(method === 'HEAD' ? '' : route.body);
    return route.body.length;
  }
  const accept = route.accept ?? req.headers.accept ?? '*/*';
  const { url, authorization } = route;
  const from = await client.fetch({
    url,
    authorization,
    signal,
    method,
    headers: { accept, 'user-agent': 'portcullis' },
  });
  const status = from.statusCode ?? 502;
  if (route.kind === 'rewrite' && status === 200 && method === 'GET') {
    const text = (await readAll(from, limits.metadataBytes)).toString('utf8');
    const body = Buffer.from(rewritten(route.rewrite, text));
    res.writeHead(200, { 'content-type': route.contentType, 'content-length': body.length }).end(body);
    return body.length;
  }
  const names = route.kind === 'rewrite' ? (['content-type'] as const) : EGRESS_ANSWER_HEADERS;
  const headers = names.flatMap((name) => {
    const value = from.headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  res.writeHead(status, Object.fromEntries(headers));
  return await pass(from, res, limits.answerBytes, signal);
}

function rewritten(rewrite: (text: string) => string, text: string): string {
  try {
    return rewrite(text);
  } catch (error) {
    throw portcullisError('egress_failed', { reason: 'the registry answered what cannot be read' }, error);
  }
}

/** With back-pressure. What is cut is cut on this side as well. */
async function pass(
  from: IncomingMessage,
  res: ServerResponse,
  maxBytes: number,
  signal: AbortSignal,
): Promise<number> {
  let bytes = 0;
  for await (const part of from as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes)
      throw portcullisError('egress_failed', { reason: `the answer is larger than ${maxBytes} bytes` });
    if (!res.write(part)) await drained(res, signal);
  }
  res.end();
  return bytes;
}

function refuse(res: ServerResponse, error: PortcullisError): void {
  const { code, message } = error;
  const marked = code === 'egress_failed' ? {} : { [EGRESS_REFUSED_HEADER]: code };
  res.writeHead(error.edge.http, { ...marked, 'content-type': 'text/plain', connection: 'close' }).end(`${message}\n`);
}

async function readCratesTemplate(
  { upstreams }: EgressSettings,
  client: UpstreamClient,
  limits: EgressLimits,
): Promise<string> {
  const { base, authorization } = upstreams['crates-index'];
  const url = new URL('config.json', base);
  const signal = AbortSignal.timeout(limits.firstByteMs);
  const from = await client.fetch({
    url,
    authorization,
    signal,
    method: 'GET',
    headers: { 'user-agent': 'portcullis' },
  });
  const text = (await readAll(from, limits.metadataBytes)).toString('utf8');
  const document: unknown = from.statusCode === 200 ? JSON.parse(text) : null;
  const template: unknown = Reflect.get(Object(document), 'dl');
  if (typeof template !== 'string')
    throw portcullisError('egress_failed', { reason: 'the crates index has no config.json' });
  return template;
}

/** The first value that comes; a failure is not kept. */
function onceUntilItWorks<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | null = null;
  return () => {
    kept ??= make().catch((error: unknown) => {
      kept = null;
      throw error;
    });
    return kept;
  };
}
