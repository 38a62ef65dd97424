/** Time-outs and retries of a workspace's activities. */
import { ActivityCancellationType, type ActivityOptions, type LocalActivityOptions } from '@temporalio/workflow';

/** Errors that will not go away by themselves: they end what was being done, by their code. */
export const FINAL = [
  'schema_invalid',
  'canonical_unsupported',
  'not_found',
  'state_conflict',
  'kill_switch',
  'workspace_refused',
  'workspace_template_refused',
  'coder_not_configured',
  'coder_unauthenticated',
  'coder_forbidden',
  'coder_unseen',
  'coder_gone',
  'coder_refused',
  'coder_unreadable',
  'coder_name_taken',
  'coder_name_spent',
  'coder_parameter_invalid',
];

/** The store, until it answers: what owns a resource does not give up on it. */
export const STORE_RETRY: LocalActivityOptions = {
  startToCloseTimeout: '20s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s', nonRetryableErrorTypes: FINAL },
};

/**
 * How long a step of a teardown is repeated while Coder refuses this one workspace or does not answer. It is a failed attempt then:
 * recorded, and in the end an incident, instead of a wait that nobody sees. A restart of Coder is shorter.
 */
export const TEARDOWN_CALL_MS = 15 * 60_000;
/** The same while it is made: as long as Coder lets a build wait. */
export const PROVISION_CALL_MS = 36 * 60_000;

/** Short calls to Coder, for as long as it takes: whoever uses them bounds them. */
export const CODER_CALL: ActivityOptions = {
  startToCloseTimeout: '120s',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '30s', nonRetryableErrorTypes: FINAL },
};

/**
 * The create is waited for even when the run is cancelled: a teardown that ran beside it could look before it is there.
 */
export const CREATE_CALL: ActivityOptions = {
  ...CODER_CALL,
  retry: { ...CODER_CALL.retry, maximumAttempts: 20 },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

/**
 * Long looks: they answer when what they see changes, and at the latest after `forMs`. One that has no answer is repeated for
 * `boundMs`; null for a look whose caller has a timer of its own beside it.
 */
export function lookOptions(forMs: number, boundMs: number | null): ActivityOptions {
  return {
    ...(boundMs === null ? {} : { scheduleToCloseTimeout: boundMs }),
    startToCloseTimeout: forMs + 60_000,
    heartbeatTimeout: '30s',
    retry: CODER_CALL.retry ?? {},
  };
}

/** One attempt of a teardown step that may be skipped: quieting chats, sweeping compute. */
export const BOUNDED_CALL: ActivityOptions = {
  startToCloseTimeout: '120s',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumAttempts: 5, nonRetryableErrorTypes: FINAL },
};
