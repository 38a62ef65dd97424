/** A gateway over a context: the listener, the door, the workspace API, and whatever other parts it is given. */
import express, { type Express, type RequestHandler } from 'express';
import { createServer, type Server } from 'node:http';
import { OPERATOR_PATHS } from '../schemas/operator-api.ts';
import { claimOf, isGenuine } from './authority/bearer.ts';
import { proveConnection } from './authority/prove.ts';
import { Connections } from './connections.ts';
import type { GatewayContext } from './context.ts';
import { openDoor } from './door/door.ts';
import { gitRouter } from './git/router.ts';
import { errorMiddleware, notFoundMiddleware } from './http/errors.ts';
import { healthRouter } from './http/health.ts';
import { listen, type ListenSettings } from './listen.ts';
import { PresenceKeeper } from './presence/keeper.ts';
import { StoreWatch } from './presence/store-watch.ts';
import { workspaceRouter } from './workspace/router.ts';

export interface GatewayParts {
  /** Express routers of the other parts: A2A, operator API. */
  readonly routers: readonly RequestHandler[];
}

export interface RunningGateway {
  readonly port: number;
  readonly socketPath: string;
  close(): Promise<void>;
}

/** @throws `setting_invalid` when it cannot listen */
export async function serveGateway(
  ctx: GatewayContext,
  settings: ListenSettings,
  parts: GatewayParts,
): Promise<RunningGateway> {
  const connections = new Connections(ctx.limits);
  const presence = new PresenceKeeper(ctx.store, ctx.replica, ctx.logger);
  connections.onDrop((connection) => void presence.dropped(connection));
  ctx.credentials.onEnded((holder) => connections.disprove(holder));
  const watch = new StoreWatch(ctx);
  watch.onChange((answers) => {
    if (answers) presence.restore();
  });
  // Before anyone can connect: what absence means while this replica is new is said first.
  await watch.start();
  const door = openDoor(ctx, connections, presence);
  const http = httpServer(ctx, application(ctx, connections, watch, parts));
  const listening = await listen(settings, { ...ctx, door, http, connections });
  ctx.logger.info({ port: listening.port, socket: settings.socketPath }, 'the gateway listens');
  return {
    port: listening.port,
    socketPath: settings.socketPath,
    close: async () => {
      presence.close();
      watch.close();
      const accepted = listening.stopAccepting();
      await door.close();
      http.close();
      connections.destroyAll();
      await accepted;
    },
  };
}

function application(
  ctx: GatewayContext,
  connections: Connections,
  watch: StoreWatch,
  { routers }: GatewayParts,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use(countAnswers(ctx));
  app.use(proveConnections(ctx, connections));
  app.use(requestsInTime(ctx));
  app.use(healthRouter(ctx, watch));
  app.use(workspaceRouter(ctx, connections));
  app.use(gitRouter(ctx));
  for (const router of routers) app.use(router);
  app.use(notFoundMiddleware());
  app.use(errorMiddleware(ctx));
  return app;
}

function countAnswers({ metrics }: GatewayContext): RequestHandler {
  return (req, res, next) => {
    // The first segment only: a path has ids in it, and a metric must not.
    const part = /^\/(v1|a2a|git|egress|model|healthz|readyz|metrics)\b/.exec(req.path)?.[1] ?? 'other';
    res.once('finish', () => metrics.httpAnswers.inc({ part, status: `${Math.floor(res.statusCode / 100)}xx` }));
    next();
  };
}

/** The door does the same for its calls. */
function proveConnections(ctx: GatewayContext, connections: Connections): RequestHandler {
  return (req, _res, next) => {
    const claim = claimOf(ctx.keys.gatewayKey, req.headers.authorization);
    if (claim !== null) proveConnection(ctx, connections, connections.nameOf(req.socket), claim);
    next();
  };
}

/** Whole requests come within `requestMs`; only an operator's upload of a bundle, by its bearer, is given the server's own bound. */
function requestsInTime({ keys, limits }: GatewayContext): RequestHandler {
  return (req, _res, next) => {
    const isUpload = req.method === 'POST' && req.path === OPERATOR_PATHS.imports;
    if (req.complete || (isUpload && isGenuine(keys.gatewayKey, req.headers.authorization))) {
      next();
      return;
    }
    const late = setTimeout(() => req.complete || req.socket.destroy(), limits.requestMs);
    req.once('end', () => clearTimeout(late));
    req.once('close', () => clearTimeout(late));
    next();
  };
}

function httpServer({ limits }: GatewayContext, app: Express): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: Math.max(limits.requestMs, limits.importMs),
      connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
      keepAliveTimeout: 30_000,
      maxHeaderSize: 16 * 1024,
    },
    app,
  );
  server.maxRequestsPerSocket = 0;
  // It is handed connections and never listens itself, but only this event starts the watch over slow requests.
  server.emit('listening');
  return server;
}
