/**
 * `/model/v1/…`: the way of an agent's CLI to the model of its role. Who asks and whom is the credential's word; the call is one
 * of a list; the key is added by the egress process, which alone has it.
 */
import { Router, type Request, type Response } from 'express';
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Places } from '../../policies/places.ts';
import { EGRESS_HEADERS, EGRESS_REFUSED_HEADER } from '../../schemas/egress.ts';
import { portcullisError, PortcullisError } from '../../schemas/errors.ts';
import {
  MODEL_HEADERS,
  MODEL_PREFIX,
  MODEL_REQUEST_BYTES,
  modelAnswerHeaders,
  modelRequestHeaders,
  parseModelCall,
  type ModelCall,
} from '../../schemas/model-route.ts';
import type { WorkspaceRegistry } from '../../schemas/workspace/registry.ts';
import { Allowance } from '../authority/allowance.ts';
import { whileAllowed } from '../authority/while-allowed.ts';
import type { HarnessContextParts } from '../harness/seat.ts';
import { modelSeat, type ModelSeat } from './model-access.ts';
import type { EgressAccess } from './router.ts';

/** Bounds of the way to a model. Every one is of one credential, but for `total`. */
export interface ModelRouteLimits {
  /** Calls at once, and in all. */
  readonly perCredential: number;
  readonly total: number;
  /** Calls in a second, and how many it may save up. */
  readonly callsPerSecond: number;
  readonly callsBurst: number;
  /** Milliseconds for an answer, and between two looks at whether it may still be given. */
  readonly answerMs: number;
  readonly lookMs: number;
}

export const DEFAULT_MODEL_ROUTE_LIMITS: ModelRouteLimits = {
  perCredential: 6,
  total: 48,
  callsPerSecond: 0.5,
  callsBurst: 120,
  answerMs: 900_000,
  lookMs: 5_000,
};

export interface ModelRouteSettings {
  /** `null` where there is no egress: every call is refused by name. */
  readonly access: EgressAccess | null;
  readonly registry: WorkspaceRegistry;
  readonly limits?: Partial<ModelRouteLimits>;
}

export function modelRouter(parts: HarnessContextParts, { access, registry, ...settings }: ModelRouteSettings): Router {
  const limits = { ...DEFAULT_MODEL_ROUTE_LIMITS, ...settings.limits };
  const router = Router({ caseSensitive: true, strict: true });
  const places = new Places(limits.total, limits.perCredential);
  const calls = new Allowance({ perSecond: limits.callsPerSecond, burst: limits.callsBurst });
  const agent = new Agent({ keepAlive: true, maxSockets: limits.total });

  router.use(MODEL_PREFIX, async (req, res) => {
    const seat = await modelSeat(parts, registry, req);
    const call = callOf(req);
    if (access === null) throw portcullisError('model_refused', { reason: 'this installation has no egress' });
    const holder = `${seat.agent.tenant}/${seat.agent.id}`;
    calls.spend(holder, 1);
    const leave = places.take(holder);
    const allowed = whileAllowed(() => modelSeat(parts, registry, req), limits.lookMs);
    const gone = new AbortController();
    res.once('close', () => gone.abort());
    const cut = AbortSignal.any([allowed.signal, gone.signal, AbortSignal.timeout(limits.answerMs)]);
    try {
      await forward({ access, agent, seat, call }, req, res, cut);
    } finally {
      allowed.end();
      leave();
    }
  });

  return router;
}

/** Read off the request line as it came: an absolute form or a path that a reader would resolve is none of these calls. */
function callOf(req: Request): ModelCall {
  const { originalUrl } = req;
  const call = originalUrl.startsWith(`${MODEL_PREFIX}/`)
    ? parseModelCall(req.method, originalUrl.slice(MODEL_PREFIX.length))
    : null;
  if (call === null) throw portcullisError('model_refused', { reason: 'it is no call of a model' });
  const { headers } = req;
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw portcullisError('model_refused', { reason: 'a packed body cannot be read' });
  }
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (call.method === 'GET' && hasBody) throw portcullisError('model_refused', { reason: 'a GET has no body' });
  if (Number(req.headers['content-length'] ?? 0) > MODEL_REQUEST_BYTES) {
    throw portcullisError('body_too_large', { limit: MODEL_REQUEST_BYTES });
  }
  return call;
}

interface Forwarding {
  readonly access: EgressAccess;
  readonly agent: Agent;
  readonly seat: ModelSeat;
  readonly call: ModelCall;
}

async function forward(forwarding: Forwarding, req: Request, res: Response, cut: AbortSignal): Promise<void> {
  const { access, agent, call } = forwarding;
  const { tenant, pair, role, workspaceGeneration, id } = forwarding.seat.agent;
  const outgoing = request(new URL(`${MODEL_PREFIX}${call.target}`, access.url), {
    agent,
    method: call.method,
    signal: cut,
    headers: {
      ...modelRequestHeaders(req.headers),
      [EGRESS_HEADERS.key]: access.key,
      [EGRESS_HEADERS.holder]: `${tenant}/${pair}/${role}/${workspaceGeneration}`,
      [MODEL_HEADERS.host]: forwarding.seat.model,
      [MODEL_HEADERS.credential]: id,
    },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', (error) =>
      reject(portcullisError('model_failed', { reason: 'the egress does not answer' }, error)),
    );
  });
  // The egress may answer before it has read everything, and then what it says is what counts.
  const sent = sendBody(call, req, outgoing);
  const answer = await Promise.race([answered, sent.then(() => answered)]);
  sent.catch(() => {});
  res.status(answer.statusCode ?? 502);
  for (const [name, value] of Object.entries(modelAnswerHeaders(answer.headers))) res.setHeader(name, value);
  const refused = answer.headers[EGRESS_REFUSED_HEADER];
  if (typeof refused === 'string') res.setHeader(EGRESS_REFUSED_HEADER, refused);
  // Events are worth something when they come, not when all of them have.
  res.flushHeaders();
  // An answer that was cut must not look whole, and what nobody reads waits no longer than it may take.
  await pipeline(answer, res, { signal: cut }).catch(() => res.destroy());
}

/** A GET is never given a body: without a length of its own it would be read as the next request. */
async function sendBody(call: ModelCall, req: Request, outgoing: ClientRequest): Promise<void> {
  if (call.method === 'GET') {
    outgoing.end();
    return;
  }
  try {
    await pipeline(req, bounded(), outgoing);
  } catch (thrown) {
    outgoing.destroy();
    throw thrown instanceof PortcullisError ? thrown : portcullisError('stream_cut', {}, thrown);
  }
}

function bounded(): Transform {
  let bytes = 0;
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      bytes += part.length;
      if (bytes > MODEL_REQUEST_BYTES) done(portcullisError('body_too_large', { limit: MODEL_REQUEST_BYTES }));
      else done(null, part);
    },
  });
}
