/**
 * What every operation of both bindings passes before anything else looks at it: the credential, then version and
 * extension. The SDK checks the extension on sends only and nothing about the caller.
 */
import type { Request, Response } from 'express';
import { asPortcullisError, portcullisError } from '../../schemas/errors.ts';
import { A2A_HEADERS, VERIFY_EXTENSION } from '../../schemas/verify/a2a.ts';
import { checkedName } from '../../schemas/names.ts';
import { activePrincipal, authenticate, lookUp } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { requireRequester } from './authority.ts';
import { Call, type Binding } from './call.ts';
import { A2A_VERSION } from './card.ts';

/** What stands in front of the operations of both bindings. */
export interface A2aFront {
  /** The call of somebody who may call. Reads no body. */
  open(binding: Binding, req: Request, res: Response): Promise<Call>;
  /** Version and extensions, which the answer echoes whatever comes of the call. */
  requireProtocol(req: Request, res: Response): void;
  /** Asked after each silence of a stream; `false` cuts it. */
  mayGoOn(req: Request): Promise<boolean>;
}

/** The front of the verify extension: agents and operators by their credentials, that extension and version 1.0 only. */
export function verifyFront(ctx: GatewayContext): A2aFront {
  return {
    open: (binding, req, res) => openCall(ctx, binding, req, res),
    requireProtocol: (req, res) => {
      requireVersion(req);
      requireExtension(req, res, VERIFY_EXTENSION);
    },
    mayGoOn: (req) => mayGoOn(ctx, req),
  };
}

/**
 * The call of a requester. Reads no body.
 * @throws `unauthenticated`, `rate_limited`, `not_allowed`, `role`, `store_unavailable`, `schema_invalid` for a position that is no number
 */
async function openCall(ctx: GatewayContext, binding: Binding, req: Request, res: Response): Promise<Call> {
  const principal = await authenticate(ctx, req);
  ctx.allowances.calls.spend(`${principal.tenant}/${principal.id}`, 1);
  requireRequester(principal);
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  const query = queryOf(req);
  const pair = query.get('pair');
  return new Call({
    binding,
    principal,
    signal: gone.signal,
    afterSeq: position('afterSeq', req.get(A2A_HEADERS.afterSeq) ?? query.get('afterSeq')),
    lastEventId: position('Last-Event-ID', req.get('Last-Event-ID') ?? null),
    pair: pair === undefined ? null : checkedName('pair', pair),
  });
}

/** @throws `version_not_supported` */
export function requireVersion(req: Request): void {
  const named = req.get(A2A_HEADERS.version) ?? queryOf(req).get(A2A_HEADERS.version) ?? '';
  // A2A: no version means 0.3.
  const version = named.trim() === '' ? '0.3' : named.trim();
  if (version !== A2A_VERSION) throw portcullisError('version_not_supported', { version: version.slice(0, 16) });
}

/** The answer echoes the extension. @throws `extension_required` */
export function requireExtension(req: Request, res: Response, uri: string): void {
  const extensions = (req.get(A2A_HEADERS.extensions) ?? '').split(',').map((named) => named.trim());
  if (!extensions.includes(uri)) throw portcullisError('extension_required', { uri });
  res.setHeader(A2A_HEADERS.extensions, uri);
}

/** A stream ends with its credential: revoked or expired is a cut. An absent store is not. */
async function mayGoOn(ctx: GatewayContext, req: Request): Promise<boolean> {
  try {
    activePrincipal(await lookUp(ctx, req.headers.authorization));
    return true;
  } catch (thrown) {
    return asPortcullisError(thrown).code === 'store_unavailable';
  }
}

/** Query parameters. @throws `schema_invalid` for one that is there twice: readers differ on which copy counts. */
export function queryOf(req: Request): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of new URL(req.originalUrl, 'http://localhost').searchParams) {
    if (found.has(name)) throw portcullisError('schema_invalid', { path: name.slice(0, 64), reason: 'is there twice' });
    found.set(name, value);
  }
  return found;
}

function position(name: string, text: string | null | undefined): number | null {
  if (text === undefined || text === null || text === '') return null;
  if (!/^[0-9]{1,15}$/.test(text)) {
    throw portcullisError('schema_invalid', { path: name, reason: 'must be the number of an event' });
  }
  return Number(text);
}
