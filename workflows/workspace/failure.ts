/** Reads what a step threw: typed codes decide, never the text of a message. */
import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';
import { TimeoutFailure } from '@temporalio/common';

/**
 * The code of a failed step; `timed_out` for one that did not end in time. Rethrows what is a fault of this code: the owner of
 * a resource keeps retrying then, and an alarm says so.
 */
export function codeOfFailure(thrown: unknown): string {
  // A local activity's failure arrives as it is, an activity's as the cause of an ActivityFailure.
  const cause = thrown instanceof ActivityFailure ? thrown.cause : thrown;
  if (cause instanceof TimeoutFailure) return 'timed_out';
  if (cause instanceof ApplicationFailure) return cause.type ?? 'internal';
  throw thrown;
}

export function isCancel(thrown: unknown): boolean {
  return isCancellation(thrown);
}
