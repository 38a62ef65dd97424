/** The executor's HTTP calls to the gateway, over its one unix socket. */
import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { portcullisError } from '../../schemas/errors.ts';

export interface GatewayCall {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly contentType: 'application/json' | 'application/octet-stream';
  readonly body: Uint8Array;
  /** How long to go on trying while the gateway or what stands behind it is away. 0: once. */
  readonly patienceMs: number;
}

export interface GatewayClient {
  /** Answers the body of a 2xx. @throws `not_allowed` when it was refused for good, `gateway_unavailable` when patience ended. */
  call(call: GatewayCall): Promise<Uint8Array>;
  close(): void;
}

/** Above the bodies that the gateway answers with; a longer one is not read on. */
const MAX_ANSWER_BYTES = 256 * 1024;
const ATTEMPT_MS = 15_000;
const MAX_PAUSE_MS = 1_000;

/** `bearer` is `null` only for the exchange of a claim code. */
export function createGatewayClient(socketPath: string, bearer: string | null): GatewayClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const authorization = bearer === null ? {} : { authorization: `Bearer ${bearer}` };

  function attempt({ method, path, contentType, body }: GatewayCall): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = request({
        agent,
        socketPath,
        method,
        path,
        signal: AbortSignal.timeout(ATTEMPT_MS),
        headers: { ...authorization, host: 'gateway', 'content-type': contentType, 'content-length': body.length },
      });
      outgoing.once('error', reject);
      outgoing.once('response', (incoming) => {
        readAnswer(incoming).then((bytes) => resolve({ status: incoming.statusCode ?? 0, body: bytes }), reject);
      });
      outgoing.end(body);
    });
  }

  return {
    async call(call) {
      const deadline = performance.now() + call.patienceMs;
      for (let pause = 50; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
        const answer = await attempt(call).catch((error: unknown) => ({ status: 0, body: error }));
        if (answer.status >= 200 && answer.status < 300)
          return answer.body instanceof Uint8Array ? answer.body : NOTHING;
        if (!isPassing(answer.status)) {
          throw portcullisError('not_allowed', { action: `${call.method} ${call.path} (${answer.status})` });
        }
        if (performance.now() + pause > deadline) {
          throw portcullisError('gateway_unavailable', { url: socketPath }, answer.body);
        }
        await delay(pause);
      }
    },
    close: () => agent.destroy(),
  };
}

const NOTHING = new Uint8Array();

interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
}

/** No answer, or one that says to come back. Anything else stays what it is however often it is asked. */
function isPassing(status: number): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500;
}

async function readAnswer(incoming: IncomingMessage): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of incoming as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES) throw portcullisError('body_too_large', { limit: MAX_ANSWER_BYTES });
    parts.push(part);
  }
  return Buffer.concat(parts, bytes);
}
