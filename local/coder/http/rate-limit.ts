/** The server's limit: so many requests a minute for each user (or address) and URL path. */
import type { Request, RequestHandler } from 'express';
import type { Clock } from '../clock.ts';
import { Refusal } from './refusal.ts';

const WINDOW_MS = 60_000;
/** Paths with a limit of their own. */
const OWN_LIMITS: Readonly<Record<string, number>> = { '/api/v2/users/login': 60, '/api/v2/files': 12 };
/** Old windows are dropped when there are more than this. */
const MANY = 10_000;

/** `who` tells requests apart; `mayBypass` whether this user's bypass header counts. */
export function rateLimit(
  clock: Clock,
  perMinute: number | null,
  who: (request: Request) => string,
  mayBypass: (request: Request) => boolean,
): RequestHandler {
  const windows = new Map<string, { began: number; count: number }>();
  return (request, response, next) => {
    if (perMinute === null) {
      next();
      return;
    }
    const bypass = request.header('x-coder-bypass-ratelimit') === 'true';
    if (bypass && mayBypass(request)) {
      next();
      return;
    }
    const limit = OWN_LIMITS[request.path] ?? perMinute;
    const key = `${who(request)} ${request.path}`;
    const now = clock.now().getTime();
    if (windows.size > MANY) forget(windows, now);
    const open = windows.get(key);
    const window = open === undefined || now - open.began >= WINDOW_MS ? { began: now, count: 0 } : open;
    windows.set(key, window);
    window.count += 1;
    response.setHeader('X-Ratelimit-Limit', String(limit));
    response.setHeader('X-Ratelimit-Remaining', String(Math.max(0, limit - window.count)));
    response.setHeader('X-Ratelimit-Reset', String(Math.ceil((window.began + WINDOW_MS) / 1000)));
    if (window.count > limit) {
      const message = `You've been rate limited for sending more than ${limit} requests in 1m0s.`;
      throw new Refusal(429, { message }, { 'Retry-After': '60' });
    }
    next();
  };
}

function forget(windows: Map<string, { began: number }>, now: number): void {
  for (const [key, { began }] of windows) if (now - began >= WINDOW_MS) windows.delete(key);
}
