/**
 * How long synchronous work takes, call by call: by the wall clock, and on the processor.
 *
 * On a quiet machine both are the same. On a busy one the wall clock also counts the time during which this thread waited
 * while others ran, and the tail of it is the scheduler's, not the work's. Linux says how long a thread waited
 * (`schedstat`, in nanoseconds; its processor times are only exact to the tick, so waiting is subtracted instead).
 */
import { openSync, readSync } from 'node:fs';

/** Milliseconds of each call, in order. */
export interface CallTimes {
  readonly wall: readonly number[];
  /** The wall clock less the time this thread waited for a processor; the same as `wall` where that cannot be told. */
  readonly processor: readonly number[];
}

export function timesOf(call: () => unknown, calls: number): CallTimes {
  const wall: number[] = [];
  const processor: number[] = [];
  for (let n = 0; n < calls; n += 1) {
    const waited = waitedMs();
    const start = performance.now();
    call();
    const took = performance.now() - start;
    wall.push(took);
    processor.push(took - Math.min(took, waitedMs() - waited));
  }
  return { wall, processor };
}

const SCHEDSTAT = openSchedstat();
const buffer = Buffer.alloc(128);

/** Milliseconds that this thread has waited for a processor since it began. */
function waitedMs(): number {
  if (SCHEDSTAT === null) return 0;
  const length = readSync(SCHEDSTAT, buffer, 0, buffer.length, 0);
  const [, waited = '0'] = buffer.toString('latin1', 0, length).split(' ');
  return Number(waited) / 1e6;
}

/** The main thread's; its id is the process's. `null` where there is no such file. */
function openSchedstat(): number | null {
  try {
    return openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  } catch {
    return null;
  }
}
