/**
 * Watches one task to its end, over any number of connections: after a cut it goes on behind the last event it has. What it
 * returns is an end; what it throws is not.
 */
import { asPortcullisError, portcullisError, type PortcullisError } from '../schemas/errors.ts';
import { isTerminalTaskState, type NumberedTaskEvent } from '../schemas/verify/task.ts';
import type { Streamed, VerifyTask } from './a2a.ts';

export type Watched =
  | { readonly kind: 'snapshot'; readonly task: VerifyTask }
  | { readonly kind: 'event'; readonly numbered: NumberedTaskEvent }
  /** The stream broke; it is resumed. */
  | { readonly kind: 'cut'; readonly error: PortcullisError }
  | { readonly kind: 'end'; readonly task: VerifyTask };

export interface WatchCalls {
  /** Subscribes behind `lastEventId`. @throws `unsupported_operation` when the task has ended */
  subscribe(lastEventId: number | null): AsyncIterable<Streamed>;
  getTask(afterSeq: number): Promise<VerifyTask>;
  pause(ms: number): Promise<void>;
}

/** How long it tries to come back after a cut before it gives up, milliseconds. */
const PATIENCE_MS = 90_000;

/** Errors after which another connection may do better. */
const PASSING: readonly string[] = [
  'stream_cut',
  'gateway_unavailable',
  'store_unavailable',
  'temporal_unavailable',
  'rate_limited',
  'internal',
];

/** @param afterSeq events up to this number are known already; `null` begins with the snapshot */
export async function* watchTask(calls: WatchCalls, afterSeq: number | null): AsyncGenerator<Watched> {
  let seen = afterSeq;
  let cutSince: number | null = null;
  let pause = 100;
  for (;;) {
    try {
      for await (const item of calls.subscribe(seen)) {
        if (cutSince !== null) pause = 100;
        cutSince = null;
        if (item.kind === 'snapshot') {
          // After a cut the snapshot shows what the events that follow will say; only the first one is news.
          if (seen === null) yield item;
          seen ??= item.task.metadata.seq;
          continue;
        }
        if (item.kind !== 'event' || (seen !== null && item.numbered.seq <= seen)) continue;
        seen = item.numbered.seq;
        yield item;
      }
      // The stream is over, which says nothing: whether the task is, is asked below.
    } catch (thrown) {
      const error = asPortcullisError(thrown);
      if (!PASSING.includes(error.code) && error.code !== 'unsupported_operation') throw error;
      if (error.code !== 'unsupported_operation') {
        cutSince ??= performance.now();
        yield { kind: 'cut', error };
      }
    }
    try {
      let more = true;
      while (more) {
        const task = await calls.getTask(seen ?? 0);
        for (const numbered of task.metadata.events ?? []) {
          seen = numbered.seq;
          yield { kind: 'event', numbered };
        }
        more = task.metadata.more === true;
        if (!more && hasEnded(task)) {
          yield { kind: 'end', task };
          return;
        }
      }
    } catch (thrown) {
      const error = asPortcullisError(thrown);
      if (!PASSING.includes(error.code)) throw error;
      cutSince ??= performance.now();
    }
    if (cutSince !== null && performance.now() - cutSince > PATIENCE_MS) throw portcullisError('stream_cut');
    await calls.pause(pause);
    pause = Math.min(2_000, pause * 2);
  }
}

export function hasEnded({ state }: VerifyTask): boolean {
  return state === 'rejected' || isTerminalTaskState(state);
}
