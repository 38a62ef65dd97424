/** GET of one URL at a registry: bounded, redirects followed by us, the credential shown to its own server only. */
import { request as requestHttp, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { request as requestHttps, Agent as HttpsAgent } from 'node:https';
import { portcullisError } from '../../schemas/errors.ts';
import type { EgressLimits } from './settings.ts';

export interface UpstreamCall {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD';
  readonly headers: Readonly<Record<string, string>>;
  readonly authorization: string | null;
  readonly signal: AbortSignal;
}

export type Fetch = (call: UpstreamCall) => Promise<IncomingMessage>;

export interface UpstreamClient {
  /** The answer, its body unread. @throws `egress_failed` */
  readonly fetch: Fetch;
  close(): void;
}

export function createUpstreamClient(
  limits: Pick<EgressLimits, 'firstByteMs' | 'redirects' | 'total'>,
): UpstreamClient {
  const agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets: limits.total }),
    'https:': new HttpsAgent({ keepAlive: true, maxSockets: limits.total }),
  } as const;

  function once(call: UpstreamCall): Promise<IncomingMessage> {
    const { url, method, headers, authorization, signal } = call;
    const secure = url.protocol === 'https:';
    return new Promise((resolve, reject) => {
      const options = {
        method,
        agent: secure ? agents['https:'] : agents['http:'],
        signal,
        headers: { ...headers, 'accept-encoding': 'identity', ...(authorization === null ? {} : { authorization }) },
      };
      const outgoing = secure ? requestHttps(url, options) : requestHttp(url, options);
      const late = setTimeout(() => outgoing.destroy(new Error('no answer in time')), limits.firstByteMs);
      outgoing.once('error', (error) => {
        clearTimeout(late);
        reject(portcullisError('egress_failed', { reason: `${url.host}: ${error.message}` }, error));
      });
      outgoing.once('response', (answer) => {
        clearTimeout(late);
        resolve(answer);
      });
      outgoing.end();
    });
  }

  async function fetch(call: UpstreamCall): Promise<IncomingMessage> {
    let current = call;
    for (let left = limits.redirects; ; left -= 1) {
      const answer = await once(current);
      const next = redirectOf(answer, current);
      if (next === null) return answer;
      answer.resume();
      if (left === 0) throw portcullisError('egress_failed', { reason: `${call.url.host} redirects too often` });
      current = next;
    }
  }

  return {
    fetch,
    close: () => {
      agents['http:'].destroy();
      agents['https:'].destroy();
    },
  };
}

/** Never from https to something weaker; the credential does not travel to another server. */
function redirectOf(answer: IncomingMessage, call: UpstreamCall): UpstreamCall | null {
  const { statusCode = 0, headers } = answer;
  if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined) return null;
  const url = URL.canParse(headers.location, call.url.href) ? new URL(headers.location, call.url) : null;
  const isWeaker = url?.protocol !== 'https:' && url?.protocol !== call.url.protocol;
  if (url === null || isWeaker) {
    answer.resume();
    throw portcullisError('egress_failed', { reason: `${call.url.host} redirects to what is not fetched` });
  }
  return { ...call, url, authorization: url.host === call.url.host ? call.authorization : null };
}

/** The whole body. @throws `egress_failed` when it is longer */
export async function readAll(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) {
      answer.destroy();
      throw portcullisError('egress_failed', { reason: `the answer is larger than ${maxBytes} bytes` });
    }
    parts.push(part);
  }
  return Buffer.concat(parts, bytes);
}
