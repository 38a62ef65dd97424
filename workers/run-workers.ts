/** Runs the Temporal workers of one process until it is told to close; a worker that fails ends the process's work. */
import type { Worker } from '@temporalio/worker';

export interface RunningWorkers {
  /** Settles when every worker has stopped; rejects with the first failure. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export function runWorkers(workers: readonly Worker[]): RunningWorkers {
  const runs = workers.map((worker) => worker.run());
  const ended = Promise.all(runs).then(() => undefined);
  // Whoever holds `ended` sees the failure; it must not count as unhandled before that.
  ended.catch(() => {});
  const stop = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  ended.catch(stop);
  return {
    ended,
    async close() {
      stop();
      await Promise.allSettled(runs);
    },
  };
}
