/** The least workflow that has an activity on an executor's queue: what is tested is the door, not the orchestration. */
import { ActivityCancellationType, condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

interface Executor {
  runCommand(play: string): Promise<unknown>;
}

export interface Dispatch {
  readonly queue: string;
  /** What the executor of the test is to do. */
  readonly play: string;
  readonly heartbeatSecs: number;
}

/** One run, as the verify workflow dispatches it. */
export async function dispatch({ queue, play, heartbeatSecs }: Dispatch): Promise<unknown> {
  const { runCommand } = proxyActivities<Executor>({
    taskQueue: queue,
    scheduleToStartTimeout: '20s',
    startToCloseTimeout: '60s',
    heartbeatTimeout: heartbeatSecs * 1000,
    retry: { maximumAttempts: 1 },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  });
  return runCommand(play);
}

export const executorLost = defineSignal('executorLost');

/** Ends when it is told that its executor is lost. */
export async function awaitLoss(): Promise<string> {
  let lost = false;
  setHandler(executorLost, () => {
    lost = true;
  });
  await condition(() => lost);
  return 'lost';
}
