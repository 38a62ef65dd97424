/**
 * Wall clock and processor time of synchronous work, call by call.
 *
 * Work that waits for nothing takes the same by both on a quiet machine. On a busy one the wall clock also counts what other
 * programs did meanwhile, which says nothing about the work: its tail is then the scheduler's.
 */

/** Milliseconds of each call, in order. */
export interface CallTimes {
  readonly wall: readonly number[];
  /** Of this thread. */
  readonly cpu: readonly number[];
}

export function timesOf(call: () => unknown, calls: number): CallTimes {
  const wall: number[] = [];
  const cpu: number[] = [];
  for (let n = 0; n < calls; n += 1) {
    const used = process.threadCpuUsage();
    const start = performance.now();
    call();
    wall.push(performance.now() - start);
    const { user, system } = process.threadCpuUsage(used);
    cpu.push((user + system) / 1000);
  }
  return { wall, cpu };
}
