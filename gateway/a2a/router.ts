/** The A2A front: agent card and both bindings. Mount it at the root of an app that has read no body yet. */
import { AgentCard } from '@a2a-js/sdk';
import { Router } from 'express';
import { portcullisError } from '../../schemas/errors.ts';
import { A2A_PATHS } from '../../schemas/verify/a2a.ts';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import type { GatewayContext } from '../context.ts';
import { sendFailure, type BindingContext } from './answer.ts';
import type { BoundHandler } from './bound-handler.ts';
import { agentCard, baseOf } from './card.ts';
import { CHUNK_ROUTE, chunkReader } from './chunks.ts';
import { FEED_SETTINGS, TaskFeed, type FeedSettings } from './feed.ts';
import { verifyFront, type A2aFront } from './front.ts';
import { VerifyRequestHandler } from './handler.ts';
import { a2aMetrics } from './metrics.ts';
import { restBinding } from './rest.ts';
import { jsonRpcBinding } from './rpc.ts';
import { STREAM_SETTINGS, type StreamSettings } from './sse.ts';

export interface A2aSettings {
  /** Where callers reach the gateway; by default what each of them used (the Host header). */
  readonly publicUrl: string | null;
  readonly stream: StreamSettings;
  readonly feed: FeedSettings;
}

export const A2A_SETTINGS: A2aSettings = { publicUrl: null, stream: STREAM_SETTINGS, feed: FEED_SETTINGS };

export function a2aRouter(ctx: GatewayContext, settings: A2aSettings = A2A_SETTINGS): Router {
  const router = Router();
  const front = verifyFront(ctx);
  const handler = new VerifyRequestHandler(ctx, new TaskFeed(ctx.store, settings.feed), agentCard(baseOf(undefined)));
  router.get(`${A2A_PATHS.rest}${CHUNK_ROUTE}`, chunkReader(ctx, front));
  router.use(a2aBindings(ctx, { front, handler, cardAt: agentCard, ...settings }));
  return router;
}

export interface BindingSettings extends Pick<A2aSettings, 'publicUrl' | 'stream'> {
  readonly front: A2aFront;
  readonly handler: BoundHandler;
  /** The card of a gateway that is reached at this base. */
  readonly cardAt: (base: string) => AgentCard;
}

/** Card and bindings of A2A over any handler: reading, refusing, streaming and answering are the same for each. */
export function a2aBindings(ctx: BindingContext, settings: BindingSettings): Router {
  const { front, handler, cardAt, publicUrl, stream } = settings;
  const router = Router();
  const streaming = { settings: stream, metrics: a2aMetrics(ctx.metrics.registry), front };
  const since = new Date().toUTCString();
  router.get(A2A_PATHS.card, (req, res) => {
    const card = JSON.stringify(AgentCard.toJSON(cardAt(publicUrl ?? baseOf(req.get('host')))));
    const etag = `"${digestHex(contentDigest(new TextEncoder().encode(card))).slice(0, 32)}"`;
    res.set({ ETag: etag, 'Cache-Control': 'public, max-age=300', 'Last-Modified': since, Vary: 'Host' });
    if (req.get('if-none-match') === etag) res.status(304).end();
    else res.type('application/json').send(card);
  });
  router.post(A2A_PATHS.rpc, jsonRpcBinding(ctx, front, handler, streaming));
  router.use(A2A_PATHS.rest, restBinding(ctx, front, handler, streaming), (req, res) => {
    const id = req.path.slice(0, 200);
    sendFailure(ctx, 'HTTP+JSON', res, portcullisError('not_found', { what: 'operation', id }), null);
  });
  return router;
}
