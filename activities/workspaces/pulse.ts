/** The heartbeat of a long look, and its end: what a test replaces by a pulse of its own. */
import { setTimeout as pause } from 'node:timers/promises';
import { Context } from '@temporalio/activity';

export interface Pulse {
  /** Aborted when the activity is cancelled or its worker stops. */
  readonly signal: AbortSignal;
  readonly pause: (ms: number) => Promise<void>;
  /** Milliseconds, only to be compared with each other. */
  readonly now: () => number;
}

const BEAT_MS = 5_000;

/** Runs `look` with a heartbeat beside it, so that one slow call to Coder does not look like a dead worker. */
export async function withPulse<T>(look: (pulse: Pulse) => Promise<T>): Promise<T> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), BEAT_MS);
  const { cancellationSignal: signal } = context;
  try {
    return await look({
      signal,
      pause: (ms) => pause(ms, undefined, { signal }),
      now: () => performance.now(),
    });
  } finally {
    clearInterval(beat);
  }
}

/**
 * Looks until `isNews`, or until `forMs` are over; the last answer. Quickly at first: what changes mostly changes soon. Coder
 * takes 512 calls a minute for each path.
 */
export async function lookUntil<T>(
  pulse: Pulse,
  forMs: number,
  look: () => Promise<T>,
  isNews: (answer: T) => boolean,
): Promise<T> {
  const start = pulse.now();
  for (;;) {
    const answer = await look();
    const past = pulse.now() - start;
    if (isNews(answer) || past >= forMs) return answer;
    await pulse.pause(Math.min(past < 5_000 ? 200 : 1_000, forMs - past));
  }
}
