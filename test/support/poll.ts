/** The one way tests wait: look until it is so, or fail at a deadline with what was seen last. */
import { setTimeout as delay } from 'node:timers/promises';

export interface PollOptions {
  readonly deadlineMs?: number;
  readonly everyMs?: number;
  /** What is waited for, for the failure's message. */
  readonly what: string;
}

/** The first answer of `look` that is neither `null`, `undefined` nor `false`. */
export async function pollUntil<T>(
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  { deadlineMs = 10_000, everyMs = 25, what }: PollOptions,
): Promise<T> {
  const end = Date.now() + deadlineMs;
  let last: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found !== null && found !== undefined && found !== false) return found;
      last = found;
    } catch (thrown) {
      last = thrown;
    }
    if (Date.now() >= end) throw new Error(`waited ${deadlineMs} ms for ${what}; saw last: ${String(last)}`);
    await delay(everyMs);
  }
}
