/** Errors as gRPC statuses, ours by the catalogue and upstream's as it came. */
import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { asPortcullisError, type ErrorCode } from '../../schemas/errors.ts';

/** What a call is answered with when it is not answered with a message. */
export interface DoorStatus {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

/** Trailer with the code of the catalogue; gRPC's own codes are too few to tell refusals apart. */
export const CODE_TRAILER = 'portcullis-code';

/** The details of upstream's errors travel in it; the SDK reads them. */
const STATUS_DETAILS = 'grpc-status-details-bin';

/** The catalogue has plain numbers, so that it stays free of gRPC. */
const STATUS_OF_NUMBER = new Map<number, status>(
  Object.values(status)
    .filter((value) => typeof value === 'number')
    .map((value) => [value, value]),
);

/** An error of ours. Unknown ones are `internal`, and their cause stays here. */
export function statusOf(thrown: unknown): DoorStatus {
  const error = asPortcullisError(thrown);
  const metadata = new Metadata();
  metadata.set(CODE_TRAILER, error.code);
  return { code: STATUS_OF_NUMBER.get(error.edge.grpc) ?? status.INTERNAL, details: error.message, metadata };
}

/** An error that Temporal answered with. Nothing else of its trailers goes back. */
export function upstreamStatus(error: ServiceError): DoorStatus {
  const metadata = new Metadata();
  for (const value of error.metadata.get(STATUS_DETAILS)) metadata.add(STATUS_DETAILS, value);
  return { code: error.code, details: error.details, metadata };
}

/** The code of a refusal of ours, for the log and the metrics. */
export function codeOf(thrown: unknown): ErrorCode {
  return asPortcullisError(thrown).code;
}

/** `OK`, `NOT_FOUND` …; the number for a code that gRPC does not name. */
export function statusName(code: number): string {
  return status[code] ?? String(code);
}
