/** Time-outs and retries of the ticket's activities. */
import { ActivityCancellationType, type ActivityOptions } from '@temporalio/workflow';

/** Errors that will not go away by themselves. */
const FINAL = [
  'schema_invalid',
  'canonical_unsupported',
  'not_found',
  'not_allowed',
  'state_conflict',
  'policy_mismatch',
  'record_unreadable',
  'repository_invalid',
  'disk_full',
  'gate_policy_refused',
  'remote_refused',
  'kill_switch',
  'store_full',
  'coder_not_configured',
  'coder_unauthenticated',
  'coder_forbidden',
  'coder_refused',
];

const RETRY = {
  initialInterval: '200ms',
  backoffCoefficient: 2,
  maximumInterval: '10s',
  nonRetryableErrorTypes: FINAL,
} as const;

/**
 * What the projection and the ring say has to follow what the ticket is: until the store takes it. Not a local activity, though a
 * hop each costs a second in all: a timer that starts while one runs is not where it was when the history is replayed for a
 * query, and a ticket that cannot be replayed stands still.
 */
export const RECORDING: ActivityOptions = {
  startToCloseTimeout: '20s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' },
};

/** A short write to our own store: an attempt that a dying server never heard the end of costs this long. */
export const WRITING: ActivityOptions = { startToCloseTimeout: '20s', retry: RETRY };

/** The same while somebody waits for the answer of an update: bounded, so that they hear that nobody can tell. */
export const ANSWERING: ActivityOptions = {
  startToCloseTimeout: '15s',
  scheduleToCloseTimeout: '15s',
  retry: RETRY,
};

export const ASKING: ActivityOptions = { startToCloseTimeout: '60s', retry: RETRY };

/** Taking in a history or a base, making a candidate: git, and a remote that may be slow. */
export const GIT: ActivityOptions = { startToCloseTimeout: '6m', heartbeatTimeout: '30s', retry: RETRY };

/** Taking in an uploaded history: each object is checked, for as long as it is alive. */
export const IMPORTING: ActivityOptions = { ...GIT, startToCloseTimeout: '3h', heartbeatTimeout: '60s' };

/**
 * An answer that did not arrive is read back by calling again, whatever the attempt failed with: it may have landed before that.
 * Only settings that do not name the remote are an operator's to mend first.
 *
 * @param boundMs how long it is asked in all
 */
export function landingOptions(boundMs: number): ActivityOptions {
  return {
    startToCloseTimeout: '3m',
    scheduleToCloseTimeout: boundMs,
    heartbeatTimeout: '30s',
    retry: { ...RETRY, nonRetryableErrorTypes: ['remote_refused'] },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  };
}

/** One turn; a retry finds the turn under way by its number, and a cancel waits until the agent was interrupted. */
export function turnOptions(timeoutSecs: number, summary: string): ActivityOptions {
  return {
    startToCloseTimeout: (timeoutSecs + 60) * 1000,
    heartbeatTimeout: '30s',
    retry: RETRY,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    summary,
  };
}
