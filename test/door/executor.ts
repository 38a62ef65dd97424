/** An executor as far as the door sees one: an ordinary activity worker of the SDK whose server is the door. */
import { NativeConnection, Worker } from '@temporalio/worker';
import { executorQueue, type Seat } from '../../schemas/queues.ts';
import { runWorkers, type RunningWorkers } from '../../workers/run-workers.ts';

export interface StagedExecutor {
  close(): Promise<void>;
}

/** An ordinary activity worker of the SDK, whose server is the door. */
export async function startExecutor(
  address: string,
  bearer: string,
  seat: Seat,
  runCommand: (play: string) => Promise<unknown>,
): Promise<StagedExecutor> {
  const connection = await NativeConnection.connect({ address, metadata: { authorization: `Bearer ${bearer}` } });
  let workers: RunningWorkers;
  try {
    workers = runWorkers([
      await Worker.create({
        connection,
        namespace: 'default',
        taskQueue: executorQueue(seat),
        activities: { runCommand },
        maxConcurrentActivityTaskExecutions: 1,
        maxHeartbeatThrottleInterval: '300ms',
        shutdownGraceTime: '1s',
        shutdownForceTime: '2s',
      }),
    ]);
  } catch (thrown) {
    await connection.close();
    throw thrown;
  }
  return {
    async close() {
      await workers.close();
      await connection.close();
    },
  };
}
