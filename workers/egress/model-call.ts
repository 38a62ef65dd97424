/** One call of a model: checked, given its key, sent, and its answer passed on as it comes, without the key. */
import { request as requestHttp, Agent as HttpAgent, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as requestHttps, Agent as HttpsAgent } from 'node:https';
import { Places } from '../../policies/places.ts';
import { EGRESS_HEADERS } from '../../schemas/egress.ts';
import { portcullisError, PortcullisError } from '../../schemas/errors.ts';
import {
  MODEL_HEADERS,
  MODEL_PREFIX,
  modelAnswerHeaders,
  MODEL_REQUEST_BYTES,
  modelRequestHeaders,
  parseModelCall,
  type ModelCall,
} from '../../schemas/model-route.ts';
import { KeyScrubber } from './key-scrubber.ts';
import type { ModelHost, ModelHosts } from './model-hosts.ts';
import { checkModelRequest } from './model-request.ts';
import { drained } from './drained.ts';

export interface ModelLimits {
  /** Bytes of a request and of an answer. */
  readonly requestBytes: number;
  readonly answerBytes: number;
  /** Milliseconds until an answer begins, between two parts of it, and until it ends. */
  readonly firstByteMs: number;
  readonly silenceMs: number;
  readonly answerMs: number;
  /** Calls at once, of one workspace and in all. */
  readonly perHolder: number;
  readonly total: number;
}

export const DEFAULT_MODEL_LIMITS: ModelLimits = {
  requestBytes: MODEL_REQUEST_BYTES,
  answerBytes: 64 * 1024 * 1024,
  firstByteMs: 300_000,
  silenceMs: 120_000,
  answerMs: 900_000,
  perHolder: 6,
  total: 48,
};

/** What is known of a call when it is over; nothing of what was said in it. */
export interface ModelCallRecord {
  host: string;
  path: string;
  requestBytes: number;
  bytes: number;
}

export interface ModelCaller {
  /** @throws `model_refused`, `model_failed`, `rate_limited`, `body_too_large`; after headers were sent, for an answer that was cut */
  serve(req: IncomingMessage, res: ServerResponse, record: ModelCallRecord): Promise<void>;
  close(): void;
}

export function createModelCaller(hosts: ModelHosts, limits: ModelLimits): ModelCaller {
  const places = new Places(limits.total, limits.perHolder);
  const agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets: limits.total }),
    'https:': new HttpsAgent({ keepAlive: true, maxSockets: limits.total }),
  } as const;

  async function serve(req: IncomingMessage, res: ServerResponse, record: ModelCallRecord): Promise<void> {
    const call = parseModelCall(req.method ?? '', (req.url ?? '').slice(MODEL_PREFIX.length));
    if (call === null) throw portcullisError('model_refused', { reason: 'it is no call of a model' });
    record.path = call.path;
    const name = String(req.headers[MODEL_HEADERS.host] ?? '');
    const host = hosts.get(name);
    if (host === undefined) throw portcullisError('model_refused', { reason: 'no host is set up for this model' });
    record.host = host.name;
    if (!call.apis.some((api) => host.apis.includes(api))) {
      throw portcullisError('model_refused', { reason: 'the host of this role does not speak this API' });
    }
    const leave = places.take(String(req.headers[EGRESS_HEADERS.holder] ?? ''));
    const gone = new AbortController();
    res.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(limits.answerMs)]);
    try {
      const body = await readBody(req, limits.requestBytes);
      record.requestBytes = body.length;
      checkModelRequest(host, call, body);
      const answer = await send(host, call, req, body, signal);
      await passOn(answer, host, res, record, signal);
    } finally {
      leave();
    }
  }

  /** The answer, its body unread. The request is made anew: nothing of the caller's framing or credentials is in it. */
  function send(
    host: ModelHost,
    call: ModelCall,
    req: IncomingMessage,
    body: Buffer,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const url = new URL(host.base.href.replace(/\/$/, '') + call.target);
    const secure = url.protocol === 'https:';
    return new Promise((resolve, reject) => {
      const options = {
        method: call.method,
        agent: secure ? agents['https:'] : agents['http:'],
        signal,
        headers: {
          ...modelRequestHeaders(req.headers),
          // What is packed cannot be searched for the key.
          'accept-encoding': 'identity',
          'user-agent': 'portcullis',
          ...(call.method === 'POST' ? { 'content-length': String(body.length) } : {}),
          ...(host.credential === null ? {} : { [host.credential.header]: host.credential.value }),
        },
      };
      const outgoing = secure ? requestHttps(url, options) : requestHttp(url, options);
      const late = setTimeout(() => outgoing.destroy(new Error('no answer in time')), limits.firstByteMs);
      outgoing.once('error', (error) => {
        clearTimeout(late);
        const reason: unknown = Reflect.get(error, 'code') ?? error.name;
        reject(portcullisError('model_failed', { reason: `${host.name}: ${String(reason)}` }, error));
      });
      outgoing.once('response', (answer) => {
        clearTimeout(late);
        resolve(answer);
      });
      outgoing.end(body);
    });
  }

  async function passOn(
    answer: IncomingMessage,
    host: ModelHost,
    res: ServerResponse,
    record: ModelCallRecord,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      checkAnswer(answer, host);
    } catch (thrown) {
      answer.destroy();
      throw thrown;
    }
    const scrubber = new KeyScrubber(host.key);
    const headers = Object.entries(modelAnswerHeaders(answer.headers)).filter(([, value]) => !scrubber.has(value));
    res.writeHead(answer.statusCode ?? 502, Object.fromEntries(headers));
    res.flushHeaders();
    const silence = setTimeout(() => answer.destroy(new Error('it went silent')), limits.silenceMs);
    try {
      for await (const part of answer as AsyncIterable<Buffer>) {
        silence.refresh();
        record.bytes += part.length;
        if (record.bytes > limits.answerBytes) {
          throw portcullisError('model_failed', { reason: `the answer is larger than ${limits.answerBytes} bytes` });
        }
        const clean = scrubber.push(part);
        if (clean.length > 0 && !res.write(clean)) await drained(res, signal);
      }
      res.end(scrubber.end());
    } catch (thrown) {
      if (thrown instanceof PortcullisError) throw thrown;
      throw portcullisError('model_failed', { reason: `${host.name}: the answer was cut` }, thrown);
    } finally {
      clearTimeout(silence);
      answer.destroy();
    }
  }

  return {
    serve,
    close: () => {
      agents['http:'].destroy();
      agents['https:'].destroy();
    },
  };
}

/** A redirect is not followed, and a refused key is the operator's matter: what a host says of it can quote it in part. */
function checkAnswer(answer: IncomingMessage, host: ModelHost): void {
  const { statusCode = 0, headers } = answer;
  if (statusCode >= 300 && statusCode < 400) {
    throw portcullisError('model_refused', { reason: `${host.name} redirects, which is not followed` });
  }
  if (statusCode === 401 || statusCode === 403) {
    throw portcullisError('model_refused', { reason: `${host.name} does not take this installation's key` });
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw portcullisError('model_refused', { reason: `${host.name} answers packed, which cannot be searched` });
  }
}

async function readBody(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw portcullisError('model_refused', { reason: 'a packed body cannot be read' });
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  // What is left of a body that is too large stays unread: the request has to be answered.
  for await (const part of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) throw portcullisError('body_too_large', { limit: maxBytes });
    parts.push(part);
  }
  return Buffer.concat(parts, bytes);
}
