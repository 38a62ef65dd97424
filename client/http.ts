/** HTTP to one gateway, over TCP or its unix socket; errors come back as the catalogue's. */
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { asPortcullisError, PortcullisError, portcullisError } from '../schemas/errors.ts';
import { errorOf } from './errors.ts';

export interface Endpoint {
  /** For example `http://127.0.0.1:7430`. */
  readonly url: string;
  /** Path of the gateway's unix socket; the URL then only names the host. */
  readonly socketPath?: string;
  readonly bearer?: string;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a stream is sent as it is. */
  readonly json?: unknown;
  readonly stream?: Readable;
  readonly signal?: AbortSignal;
  /** Milliseconds until the answer's headers must be there. Default 30 s; 0 waits as long as it takes. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;
/** Longer than any JSON answer of the gateway. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * The answer, its body not yet read.
 * @throws the error that the gateway answered with, `gateway_unavailable` when nobody answers, `interrupted`
 */
export async function open(endpoint: Endpoint, call: Call): Promise<IncomingMessage> {
  const response = await exchange(endpoint, call);
  const status = response.statusCode ?? 0;
  if (status >= 200 && status < 300) return response;
  throw errorOf(status, await readText(response));
}

/** The answer as JSON; `null` for one without a body. */
export async function askJson(endpoint: Endpoint, call: Call): Promise<unknown> {
  const text = await readText(await open(endpoint, call));
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw portcullisError('json_malformed', { reason: 'the gateway answered something else' }, thrown);
  }
}

function exchange(endpoint: Endpoint, call: Call): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = begin(endpoint, call);
  const unavailable = (cause: unknown) => {
    const failed = call.stream?.errored;
    // What was to be sent could not be read: that is no fault of the gateway.
    if (failed instanceof PortcullisError) reject(failed);
    else if (call.signal?.aborted === true) reject(portcullisError('interrupted', {}, cause));
    else reject(portcullisError('gateway_unavailable', { url: endpoint.socketPath ?? endpoint.url }, cause));
  };
  let answered = false;
  request.on('response', (response) => {
    answered = true;
    resolve(response);
  });
  request.on('error', unavailable);
  const { timeoutMs = TIMEOUT_MS } = call;
  if (timeoutMs > 0) {
    const timer = setTimeout(() => answered || request.destroy(new Error('no answer in time')), timeoutMs);
    request.on('close', () => clearTimeout(timer));
    request.on('response', () => clearTimeout(timer));
  }
  if (call.stream === undefined) request.end(bodyOf(call));
  else pipeline(call.stream, request).catch((thrown: unknown) => answered || unavailable(thrown));
  return promise;
}

function begin(endpoint: Endpoint, call: Call): ClientRequest {
  const url = new URL(call.path, endpoint.url);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const body = bodyOf(call);
  const headers = {
    ...(endpoint.bearer === undefined ? {} : { authorization: `Bearer ${endpoint.bearer}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...(call.stream === undefined ? {} : { 'content-type': 'application/octet-stream' }),
    ...call.headers,
  };
  const options = {
    method: call.method,
    headers,
    ...(endpoint.socketPath === undefined ? {} : { socketPath: endpoint.socketPath }),
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  };
  return url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
}

function bodyOf(call: Call): string | undefined {
  return call.json === undefined ? undefined : JSON.stringify(call.json);
}

async function readText(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of response) {
      const chunk = Buffer.from(part as Uint8Array);
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) throw portcullisError('body_too_large', { limit: MAX_ANSWER_BYTES });
      parts.push(chunk);
    }
  } catch (thrown) {
    const known = asPortcullisError(thrown);
    throw known.code === 'internal' ? portcullisError('stream_cut', {}, thrown) : known;
  }
  return Buffer.concat(parts).toString('utf8');
}
