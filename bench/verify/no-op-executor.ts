/**
 * An executor that runs nothing and answers a plausible report: what is left is the price of everything around the command.
 * It polls through the door like a real one, or straight from Temporal to show what the door costs.
 */
import { NativeConnection, Worker } from '@temporalio/worker';
import { executorQueue, type Seat } from '../../schemas/queues.ts';
import type { SignedAction } from '../../schemas/verify/action.ts';
import { executorReport } from '../../test/support/verify-fixture.ts';
import { runWorkers } from '../../workers/run-workers.ts';

export interface NoOpExecutor {
  close(): Promise<void>;
}

/** @param bearer of use `executor` for the door; `null` polls Temporal itself, which no real executor can. */
export async function startNoOpExecutor(address: string, bearer: string | null, seat: Seat): Promise<NoOpExecutor> {
  const connection = await NativeConnection.connect({
    address,
    ...(bearer === null ? {} : { metadata: { authorization: `Bearer ${bearer}` } }),
  });
  const worker = await Worker.create({
    connection,
    taskQueue: executorQueue(seat),
    activities: {
      runCommand: ({ action }: SignedAction) => Promise.resolve(executorReport({ argv_executed: action.argvExecuted })),
    },
    maxConcurrentActivityTaskExecutions: 1,
    maxHeartbeatThrottleInterval: '300ms',
  });
  const running = runWorkers([worker]);
  return {
    async close() {
      await running.close();
      await connection.close();
    },
  };
}
