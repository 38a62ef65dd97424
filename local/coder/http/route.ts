/** Routes as a table: so that a known path with another method is 405, and everything else 404, as in the real server. */
import { randomUUID } from 'node:crypto';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { LocalCoderContext } from '../context.ts';
import { type Asker, identify } from './asker.ts';
import { rateLimit } from './rate-limit.ts';
import { Refusal } from './refusal.ts';

/** The version that is behaved like. */
export const CODER_VERSION = 'v2.36.0';

/** `sent`: the route has answered by itself. */
export type Reply = { readonly status: number; readonly body?: unknown } | 'sent';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly work: (request: Request, asker: Asker, response: Response) => Reply | Promise<Reply>;
}

/** A route that needs no token. */
export interface OpenRoute {
  readonly method: Route['method'];
  readonly path: string;
  readonly open: (request: Request) => Reply | Promise<Reply>;
}

export const ok = (body: unknown): Reply => ({ status: 200, body });
export const created = (body: unknown): Reply => ({ status: 201, body });
export const done: Reply = { status: 204 };

/** A body may hold a template's archive. */
const MAX_BODY = '16mb';

export function coderApp(coder: LocalCoderContext, routes: readonly (Route | OpenRoute)[]): Express {
  const askers = new WeakMap<Request, Asker | Refusal>();
  const askerOf = (request: Request): Asker | Refusal => {
    const known = askers.get(request) ?? identify(coder.state, coder.clock, (name) => request.header(name));
    askers.set(request, known);
    return known;
  };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((_, response, next) => {
    response.setHeader('X-Coder-Build-Version', CODER_VERSION);
    response.setHeader('X-Coder-Request-Id', randomUUID());
    next();
  });
  const who = (request: Request) => {
    const asker = askerOf(request);
    return asker instanceof Refusal ? (request.ip ?? '') : asker.user.id;
  };
  const mayBypass = (request: Request) => {
    const asker = askerOf(request);
    return !(asker instanceof Refusal) && asker.isOwner;
  };
  app.use(rateLimit(coder.clock, coder.settings.requestsPerMinute, who, mayBypass));
  app.use(express.raw({ type: () => true, limit: MAX_BODY }));
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path);
    app.all(path, async (request, response) => {
      const route = here.find(({ method }) => method === request.method);
      if (route === undefined) throw new Refusal(405, null);
      send(response, await answer(route, request, response, askerOf));
    });
  }
  app.use(() => {
    throw new Refusal(404, { message: 'Route not found.' });
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => refused(response, error));
  return app;
}

function answer(
  route: Route | OpenRoute,
  request: Request,
  response: Response,
  askerOf: (request: Request) => Asker | Refusal,
): Reply | Promise<Reply> {
  if ('open' in route) return route.open(request);
  const asker = askerOf(request);
  if (asker instanceof Refusal) throw asker;
  return route.work(request, asker, response);
}

function send(response: Response, reply: Reply): void {
  if (reply === 'sent') return;
  response.status(reply.status);
  if (reply.body === undefined) response.end();
  else response.json(reply.body);
}

function refused(response: Response, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const refusal =
    error instanceof Refusal
      ? error
      : new Refusal(500, { message: 'Internal server error', detail: error instanceof Error ? error.message : '' });
  if (refusal.status === 0) {
    response.socket?.destroy();
    return;
  }
  for (const [name, value] of Object.entries(refusal.headers)) response.setHeader(name, value);
  send(response, { status: refusal.status, ...(refusal.body === null ? {} : { body: refusal.body }) });
}
