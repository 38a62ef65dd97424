/** `fetch` with a time-out for each attempt, and a bounded patience with 429: those were not carried out, so asking again is safe. */
import type { CoderSettings } from './settings.ts';

/** The server's window, recorded; taken when it names no time. */
const WINDOW_MS = 60_000;

export function boundedFetch(settings: CoderSettings): (request: Request) => Promise<Response> {
  return async (request) => {
    let patience = settings.rateLimitWaitMs;
    for (;;) {
      // A body can be read once, so each attempt sends a copy.
      const response = await attempt(request.clone(), settings.timeoutMs);
      if (response.status !== 429) return response;
      // Never at once, whatever the server says: that would be a busy loop against a limit.
      const wait = Math.max(1000, retryAfterMs(response));
      if (wait > patience) return response;
      patience -= wait;
      await response.body?.cancel();
      await settings.pause(wait, request.signal);
    }
  };
}

/** The signal stays with the answer, so a body that trickles is cut as well. A redirect would carry the token away. */
function attempt(request: Request, timeoutMs: number): Promise<Response> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
  return fetch(request, { signal, redirect: 'error' });
}

/** Milliseconds that a 429 asks to wait: seconds or a date. */
export function retryAfterMs(response: Response, now: number = Date.now()): number {
  const header = response.headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? WINDOW_MS : Math.max(0, date - now);
}
