/** Time-outs and retries of the gate worker's activities. */
import type { ActivityOptions } from '@temporalio/workflow';

/** Errors that will not go away by themselves: an unreadable subject, a foreign signature, a switch that an operator turned. */
const FINAL = [
  'kill_switch',
  'not_found',
  'schema_invalid',
  'canonical_unsupported',
  'record_unreadable',
  'gate_policy_refused',
  'signature_invalid',
];

/** Until it is decided: without a gate worker or a store there is no decision, and nothing else can make one. */
export function evaluationOptions(taskQueue: string, summary: string): ActivityOptions {
  return {
    taskQueue,
    startToCloseTimeout: '30s',
    retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s', nonRetryableErrorTypes: FINAL },
    summary,
  };
}

/** The next round comes by itself. */
export function anchorOptions(taskQueue: string): ActivityOptions {
  return {
    taskQueue,
    scheduleToCloseTimeout: '60s',
    startToCloseTimeout: '15s',
    retry: { initialInterval: '1s', maximumAttempts: 3, nonRetryableErrorTypes: FINAL },
    summary: 'anchor the audit chain',
  };
}
