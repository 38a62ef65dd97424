/** Temporal's errors as ours. */
import { status } from '@grpc/grpc-js';
import { isGrpcServiceError } from '@temporalio/client';
import { portcullisError } from '../schemas/errors.ts';

/** Answers that mean that nobody was there, not that somebody said no. */
const AWAY: readonly status[] = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED, status.UNKNOWN];

/** `temporal_unavailable` when Temporal is away; the error itself otherwise. */
export function temporalFailure(thrown: unknown): unknown {
  const code = serviceCode(thrown);
  if (code === undefined || !AWAY.includes(code)) return thrown;
  return portcullisError('temporal_unavailable', { reason: status[code] }, thrown);
}

/** Whether a task of the workflow failed under an update, as when something else came in while it ended: the same update again. */
export function lostItsTask(thrown: unknown): boolean {
  return serviceCode(thrown) === status.FAILED_PRECONDITION;
}

/** The client wraps what gRPC said; the code is somewhere down the causes. */
function serviceCode(thrown: unknown): status | undefined {
  let error = thrown;
  for (let depth = 0; depth < 5 && error instanceof Error; depth += 1) {
    if (isGrpcServiceError(error)) return error.code;
    error = error.cause;
  }
  return undefined;
}
