/** Reads how an executor's activity failed: typed codes and timeout kinds decide, never the text of a message. */
import { TimeoutType } from '@temporalio/common';
import { ActivityFailure, ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import type { RunEnd } from '../../policies/verify/result.ts';
import type { VerifyStatus } from '../../schemas/verify/result.ts';

const NO_REPORT = { report: null } as const;

/** Statuses that the type of a failure names. With any other type what happened is unknown, which is what lost means. */
const NAMED: ReadonlyMap<string, VerifyStatus> = new Map([
  ['executor_unavailable', 'executor_unavailable'],
  ['failed_to_start', 'failed_to_start'],
  ['prepare_failed', 'prepare_failed'],
  ['sandbox_unavailable', 'failed_to_start'],
  ['policy_mismatch', 'rejected'],
  ['signature_invalid', 'rejected'],
  ['not_allowed', 'rejected'],
]);

/** How the run ended, for what awaiting the activity threw. Rethrows what is no failure of the activity. */
export function endOfFailure(thrown: unknown): RunEnd {
  if (isCancellation(thrown)) return { ...NO_REPORT, status: 'cancelled', reason: '' };
  if (!(thrown instanceof ActivityFailure)) throw thrown;
  const { cause } = thrown;
  if (cause instanceof TimeoutFailure) return endOfTimeout(cause.timeoutType);
  if (cause instanceof ApplicationFailure) {
    const code = cause.type ?? 'internal';
    return { ...NO_REPORT, status: NAMED.get(code) ?? 'executor_lost', reason: code };
  }
  return { ...NO_REPORT, status: 'executor_lost', reason: 'executor_lost' };
}

function endOfTimeout(type: TimeoutType): RunEnd {
  if (type === TimeoutType.SCHEDULE_TO_START || type === TimeoutType.SCHEDULE_TO_CLOSE) {
    return { ...NO_REPORT, status: 'executor_unavailable', reason: 'did_not_start' };
  }
  return { ...NO_REPORT, status: 'executor_lost', reason: 'heartbeat_lost' };
}

/** How a run ended that failed before its command was dispatched: a cancel, or a named error of the control plane. */
export function endOfPreparation(thrown: unknown): RunEnd {
  if (isCancellation(thrown)) return { ...NO_REPORT, status: 'cancelled', reason: '' };
  // A local activity's failure arrives as it is, an activity's as the cause of an ActivityFailure.
  const cause = thrown instanceof ActivityFailure ? thrown.cause : thrown;
  const code = cause instanceof ApplicationFailure ? (cause.type ?? 'internal') : 'internal';
  return { ...NO_REPORT, status: NAMED.get(code) ?? 'failed_to_start', reason: code };
}
