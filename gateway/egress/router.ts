/**
 * `/egress/{registry}/…`: an executor's way to a package registry. Who asks is read from its credential; what may be asked is
 * checked here and again by the egress process, which alone knows where a registry is.
 */
import { Router, type Request, type Response } from 'express';
import { Agent, request, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Places } from '../../policies/places.ts';
import {
  EGRESS_ANSWER_HEADERS,
  EGRESS_HEADERS,
  EGRESS_PREFIX,
  EGRESS_REFUSED_HEADER,
  EGRESS_REQUEST_HEADERS,
  parseRegistryPath,
  registryTarget,
} from '../../schemas/egress.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { authenticate, seatOf } from '../authority/authenticate.ts';
import { whileAllowed } from '../authority/while-allowed.ts';
import type { GatewayContext } from '../context.ts';

export interface EgressAccess {
  /** Where the egress process listens. */
  readonly url: URL;
  readonly key: string;
}

/** Requests at once: of one executor (its own bound is half of this) and in all. */
const PER_CREDENTIAL = 24;
const TOTAL = 192;
const ANSWER_MS = 300_000;
/** Milliseconds between two looks at whether an answer may still be given. */
const LOOK_MS = 5_000;

/** @param access `null` where there is no egress: every request is refused by name */
export function egressRouter(ctx: GatewayContext, access: EgressAccess | null): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const places = new Places(TOTAL, PER_CREDENTIAL);
  const agent = new Agent({ keepAlive: true, maxSockets: TOTAL });

  router.use(EGRESS_PREFIX, async (req, res) => {
    const principal = await authenticate(ctx, req);
    const seat = seatOf(principal, 'reach a registry');
    res.setHeader(EGRESS_REFUSED_HEADER, 'gateway');
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      throw portcullisError('egress_refused', { reason: 'only GET and HEAD pass' });
    }
    const path = parseRegistryPath(req.originalUrl.slice(EGRESS_PREFIX.length));
    if (path === null) throw portcullisError('egress_refused', { reason: 'no such path of a registry' });
    res.removeHeader(EGRESS_REFUSED_HEADER);
    if (access === null) throw portcullisError('egress_failed', { reason: 'this installation has no egress' });
    const holder = `${seat.tenant}/${seat.pair}/${seat.role}/${seat.workspaceGeneration}`;
    ctx.allowances.calls.spend(`egress/${principal.tenant}/${principal.id}`, 1);
    const leave = places.take(`${principal.tenant}/${principal.id}`);
    const allowed = whileAllowed(() => authenticate(ctx, req), LOOK_MS);
    try {
      await forward(access, agent, holder, registryTarget(path), req, res, allowed.signal);
    } finally {
      allowed.end();
      leave();
    }
  });

  return router;
}

async function forward(
  access: EgressAccess,
  agent: Agent,
  holder: string,
  target: string,
  req: Request,
  res: Response,
  allowed: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  const cut = AbortSignal.any([allowed, gone.signal, AbortSignal.timeout(ANSWER_MS)]);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request(new URL(target, access.url), {
      agent,
      method: req.method,
      signal: cut,
      headers: {
        ...kept(req, EGRESS_REQUEST_HEADERS),
        [EGRESS_HEADERS.key]: access.key,
        [EGRESS_HEADERS.holder]: holder,
      },
    });
    outgoing.once('response', resolve);
    outgoing.once('error', (error) =>
      reject(portcullisError('egress_failed', { reason: 'the egress does not answer' }, error)),
    );
    outgoing.end();
  });
  res.status(answer.statusCode ?? 502);
  for (const [name, value] of Object.entries(kept(answer, [...EGRESS_ANSWER_HEADERS, EGRESS_REFUSED_HEADER]))) {
    res.setHeader(name, value);
  }
  // An answer that was cut must not look whole, and what nobody reads waits no longer than it may take.
  await pipeline(answer, res, { signal: cut }).catch(() => res.destroy());
}

function kept(from: IncomingMessage, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = from.headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
}
