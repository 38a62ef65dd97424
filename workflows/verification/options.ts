/** Time-outs and retries of a verification's activities. */
import { ActivityCancellationType, type ActivityOptions } from '@temporalio/workflow';

/** Errors that will not go away by themselves; each ends what was being done, by its code. */
const FINAL = [
  'schema_invalid',
  'canonical_unsupported',
  'not_found',
  'not_allowed',
  'state_conflict',
  'policy_mismatch',
  'record_unreadable',
  'repository_invalid',
  'body_too_large',
  'kill_switch',
  'store_full',
  'tool_unknown',
  'template_mismatch',
  'slot_invalid',
  'cwd_invalid',
  'expect_not_permitted',
  'limit',
  'role',
  'executor_unavailable',
  'coder_not_configured',
  'coder_unauthenticated',
  'coder_forbidden',
  'coder_refused',
  'coder_unreadable',
];

/** Store and git of our own: until they answer. */
export const RECORDING: ActivityOptions = {
  startToCloseTimeout: '60s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s', nonRetryableErrorTypes: FINAL },
};

/** The same for what is not waited for long: the verification is over. */
export const ABANDONING: ActivityOptions = { ...RECORDING, startToCloseTimeout: '10s', scheduleToCloseTimeout: '60s' };

/** Waits for the end of a run that somebody else started. */
export function watchingTask(timeoutSecs: number): ActivityOptions {
  return {
    startToCloseTimeout: (timeoutSecs + 900) * 1000,
    heartbeatTimeout: '30s',
    retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s', nonRetryableErrorTypes: FINAL },
  };
}

/**
 * One turn of an agent. A retry after a lost worker finds the turn under way by its number, so it asks nothing twice.
 */
export function agentTurns(timeoutSecs: number): ActivityOptions {
  return {
    startToCloseTimeout: (timeoutSecs + 60) * 1000,
    heartbeatTimeout: '30s',
    retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s', nonRetryableErrorTypes: FINAL },
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  };
}
