/** Time-outs and retries of a verify's activities. Why each: DESIGN section 5 and facts on Temporal. */
import { ActivityCancellationType, type ActivityOptions, type LocalActivityOptions } from '@temporalio/workflow';
import { executorQueue, type Seat } from '../../schemas/queues.ts';

/** Errors that will not go away by themselves. */
const FINAL = [
  'not_found',
  'policy_mismatch',
  'schema_invalid',
  'canonical_unsupported',
  'state_conflict',
  'repository_invalid',
];

export const LOCAL_RETRY: LocalActivityOptions = {
  startToCloseTimeout: '20s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s', nonRetryableErrorTypes: FINAL },
};

/** A few quick tries, so that an unpersisted result is shown as such within seconds. */
export const PERSIST_BRIEFLY: ActivityOptions = {
  startToCloseTimeout: '10s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumAttempts: 3, nonRetryableErrorTypes: FINAL },
};

/** Until it is read back: an unpersisted result is not a result. */
export const PERSIST_UNTIL_KEPT: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s', nonRetryableErrorTypes: FINAL },
};

/** Beyond the command's own limit: export, artifacts, and 180 s for which an executor keeps output while the store is away. */
const AROUND_THE_COMMAND_SECS = 420;

/** `timeoutSecs`: of the command and of its preparation together. */
export function runOptions(seat: Seat, timeoutSecs: number, summary: string): ActivityOptions {
  return {
    taskQueue: executorQueue(seat),
    // First in line and idle, so it starts at once or the executor went away in between.
    scheduleToStartTimeout: '5s',
    startToCloseTimeout: (timeoutSecs + AROUND_THE_COMMAND_SECS) * 1000,
    // Long enough for a minute without Temporal; a cancel travels with the throttled heartbeats of the executor (300 ms).
    heartbeatTimeout: '120s',
    // A second run is a decision, not a retry.
    retry: { maximumAttempts: 1 },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    summary,
  };
}
