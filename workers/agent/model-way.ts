/**
 * The way of one turn to the model of its role: a port of the workspace's own loopback that leads to the gateway's `/model` with
 * the agent's bearer, which the command is not told. What it is told instead is worth nothing outside of this workspace, and
 * nothing once the turn is over.
 *
 * @example const way = await openModelWay({ gatewaySocket, bearer }); way.url; way.token; way.close()
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { portcullisError, type PortcullisError } from '../../schemas/errors.ts';
import { MODEL_PREFIX, modelAnswerHeaders, modelRequestHeaders, parseModelCall } from '../../schemas/model-route.ts';

export interface ModelWaySettings {
  readonly gatewaySocket: string;
  readonly bearer: string;
}

export interface ModelWay {
  /** Base of the model's API, without a slash at its end. */
  readonly url: string;
  /** What stands in the place of a key. */
  readonly token: string;
  /** Cuts what is under way. */
  close(): void;
}

export async function openModelWay(settings: ModelWaySettings): Promise<ModelWay> {
  const token = `turn-${randomBytes(24).toString('base64url')}`;
  const server = createServer({ requestTimeout: 120_000 }, (req, res) => {
    void serve(settings, token, req, res).catch(() => res.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw portcullisError('internal');
  return {
    url: `http://127.0.0.1:${address.port}`,
    token,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function serve(
  { gatewaySocket, bearer }: ModelWaySettings,
  token: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  if (!shows(req, token)) {
    refuse(res, portcullisError('unauthenticated'));
    return;
  }
  const call = parseModelCall(req.method ?? '', req.url ?? '');
  if (call === null) {
    refuse(res, portcullisError('model_refused', { reason: 'it is no call of a model' }));
    return;
  }
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  const outgoing = request({
    socketPath: gatewaySocket,
    method: call.method,
    path: `${MODEL_PREFIX}${call.target}`,
    signal: gone.signal,
    headers: { ...modelRequestHeaders(req.headers), host: 'gateway', authorization: `Bearer ${bearer}` },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.on('error', reject);
  });
  // A refusal can come before everything is sent.
  const sent = call.method === 'GET' ? Promise.resolve(outgoing.end()) : pipeline(req, outgoing);
  sent.catch(() => outgoing.destroy());
  try {
    const answer = await answered;
    res.writeHead(answer.statusCode ?? 502, modelAnswerHeaders(answer.headers));
    res.flushHeaders();
    await pipeline(answer, res);
  } catch (thrown) {
    if (res.headersSent) res.destroy();
    else refuse(res, portcullisError('gateway_unavailable', { url: gatewaySocket }, thrown));
  }
}

/** In either of the headers that the APIs have for a key. */
function shows({ headers }: IncomingMessage, token: string): boolean {
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
  return [bearer, headers['x-api-key']].some((given) => {
    const [a, b] = [Buffer.from(typeof given === 'string' ? given : ''), Buffer.from(token)];
    return a.length === b.length && timingSafeEqual(a, b);
  });
}

function refuse(res: ServerResponse, { code, message, mend, edge }: PortcullisError): void {
  res.writeHead(edge.http, { 'content-type': 'application/json', connection: 'close' });
  res.end(JSON.stringify({ type: 'error', error: { type: code, code, message, mend } }));
}
