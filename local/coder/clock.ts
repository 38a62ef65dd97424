/**
 * Time of the local Coder. With a scale below 1 its minutes pass faster: what it tells (deadlines, created_at) and what it
 * waits for agree with each other, so a contract test sees an autostop after a minute that took half a second.
 */
import { setTimeout as pause } from 'node:timers/promises';

export interface Clock {
  now(): Date;
  /** {@link now} as the API writes it. */
  iso(): string;
  /** Waits so many of this clock's milliseconds. Rejects when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls again and again, until the returned function is called. */
  every(ms: number, call: () => void): () => void;
}

/** `scale` is real time for one unit of its own: 0.01 makes a minute last 0.6 s. `notBefore` is ISO time. */
export function coderClock(scale: number, notBefore: string | null): Clock {
  const began = performance.now();
  // A clock that ran fast before its server was killed must not go back.
  const start = Math.max(Date.now(), notBefore === null ? 0 : Date.parse(notBefore));
  const now = () => new Date(scale === 1 ? Date.now() : start + (performance.now() - began) / scale);
  return {
    now,
    iso: () => now().toISOString(),
    sleep: async (ms, signal) => {
      await pause(ms * scale, undefined, signal === undefined ? {} : { signal });
    },
    every(ms, call) {
      const timer = setInterval(call, Math.max(1, ms * scale));
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}
