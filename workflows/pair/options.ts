/** Time-outs and retries of the activities that open and close pairs. */
import type { ActivityOptions } from '@temporalio/workflow';

const FINAL = [
  'not_found',
  'schema_invalid',
  'canonical_unsupported',
  'state_conflict',
  'repository_invalid',
  'disk_full',
];

export const PAIR_OPTIONS: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s', nonRetryableErrorTypes: FINAL },
};

/** A large history takes a while to check, object by object: as long as it is alive, and within the bound on its size. */
export const PAIR_IMPORT_OPTIONS: ActivityOptions = {
  startToCloseTimeout: '3h',
  heartbeatTimeout: '60s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: 5, nonRetryableErrorTypes: FINAL },
};
