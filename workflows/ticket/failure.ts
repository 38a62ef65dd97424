/** Reads what a step failed with: codes of the catalogue, never the text of a message. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowFailure,
  isCancellation,
  TemporalFailure,
  TimeoutFailure,
} from '@temporalio/workflow';

/**
 * The code of an activity's or a child's failure; `cancelled` when somebody else cancelled it. Rethrows the ticket's own cancel and
 * everything that is a fault of this workflow.
 */
export function codeOf(thrown: unknown): string {
  if (isCancellation(thrown)) {
    if (CancellationScope.current().consideredCancelled) throw thrown;
    return 'cancelled';
  }
  if (!(thrown instanceof TemporalFailure)) throw thrown;
  // A local activity's failure arrives as it is, an activity's and a child's as the cause of another.
  let cause: unknown = thrown;
  while (cause instanceof ActivityFailure || cause instanceof ChildWorkflowFailure) cause = cause.cause;
  if (cause instanceof TimeoutFailure)
    return cause.cause instanceof ApplicationFailure ? (cause.cause.type ?? 'timeout') : 'timeout';
  return cause instanceof ApplicationFailure ? (cause.type ?? 'internal') : 'internal';
}
