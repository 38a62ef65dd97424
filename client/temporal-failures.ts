/** What Temporal said to an orchestrator, as errors of the catalogue. */
import {
  ApplicationFailure,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { z } from 'zod';
import { isErrorCode, portcullisError } from '../schemas/errors.ts';

/** Numbers of gRPC that mean that nobody was there, not that somebody said no: cancelled, unknown, deadline, unavailable. */
const AWAY: Readonly<Record<number, string>> = {
  1: 'CANCELLED',
  2: 'UNKNOWN',
  4: 'DEADLINE_EXCEEDED',
  14: 'UNAVAILABLE',
};
/** How deep the client's own errors wrap what gRPC said. */
const MAX_CAUSES = 5;

const refusalDetails = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** `not_found`, what the ticket refused with, `temporal_unavailable`; any other error as it is. */
export function orchestratorFailure(thrown: unknown, ticket: string): unknown {
  if (thrown instanceof WorkflowNotFoundError) return portcullisError('not_found', { what: 'ticket', id: ticket });
  if (thrown instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
    return portcullisError('temporal_unavailable', { reason: 'the ticket did not answer in time' }, thrown);
  }
  if (thrown instanceof WorkflowUpdateFailedError) return refusal(thrown);
  return awayFailure(thrown);
}

/** `temporal_unavailable` when nobody answered; the error itself otherwise. */
export function awayFailure(thrown: unknown): unknown {
  const away = AWAY[serviceCode(thrown) ?? 0];
  return away === undefined ? thrown : portcullisError('temporal_unavailable', { reason: away }, thrown);
}

/** gRPC's FAILED_PRECONDITION. */
const PRECONDITION = 9;

/** Whether a task of the workflow failed under an update, as when something else came in while it ended: the same update again. */
export function lostItsTask(thrown: unknown): boolean {
  return serviceCode(thrown) === PRECONDITION;
}

function serviceCode(thrown: unknown): number | undefined {
  let error = thrown;
  for (let depth = 0; depth < MAX_CAUSES && error instanceof Error; depth += 1) {
    if (isGrpcServiceError(error)) return error.code;
    error = error.cause;
  }
  return undefined;
}

/** The code that the workflow's validator refused with; it crosses as the type of an application failure. */
function refusal(thrown: WorkflowUpdateFailedError): Error {
  const { cause } = thrown;
  const code = cause instanceof ApplicationFailure ? (cause.type ?? '') : '';
  if (!isErrorCode(code)) return portcullisError('state_conflict', { what: 'The ticket' }, thrown);
  const details = refusalDetails.safeParse(cause instanceof ApplicationFailure ? cause.details?.[0] : null);
  return portcullisError(code, details.success ? details.data : {}, thrown);
}
