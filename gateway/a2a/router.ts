/** The A2A front: agent card and both bindings. Mount it at the root of an app that has read no body yet. */
import { AgentCard } from '@a2a-js/sdk';
import { Router } from 'express';
import { A2A_PATHS } from '../../schemas/verify/a2a.ts';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import type { GatewayContext } from '../context.ts';
import { agentCard, baseOf } from './card.ts';
import { FEED_SETTINGS, TaskFeed, type FeedSettings } from './feed.ts';
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
  const handler = new VerifyRequestHandler(ctx, new TaskFeed(ctx.store, settings.feed), agentCard(baseOf(undefined)));
  const streaming = { settings: settings.stream, metrics: a2aMetrics(ctx.metrics.registry) };
  const since = new Date().toUTCString();
  router.get(A2A_PATHS.card, (req, res) => {
    const card = JSON.stringify(AgentCard.toJSON(agentCard(settings.publicUrl ?? baseOf(req.get('host')))));
    const etag = `"${digestHex(contentDigest(new TextEncoder().encode(card))).slice(0, 32)}"`;
    res.set({ ETag: etag, 'Cache-Control': 'public, max-age=300', 'Last-Modified': since, Vary: 'Host' });
    if (req.get('if-none-match') === etag) res.status(304).end();
    else res.type('application/json').send(card);
  });
  router.post(A2A_PATHS.rpc, jsonRpcBinding(ctx, handler, streaming));
  router.use(A2A_PATHS.rest, restBinding(ctx, handler, streaming));
  return router;
}
