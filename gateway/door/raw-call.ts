/** A unary call as bytes, and what it is answered with. */
import type { ServerUnaryCall } from '@grpc/grpc-js';
import { upstreamStatus, type DoorStatus } from './status.ts';
import type { UpstreamAnswer } from './upstream.ts';

export type RawCall = ServerUnaryCall<Buffer, Buffer>;
export type DoorAnswer = { readonly bytes: Buffer } | DoorStatus;

/** A call without a deadline of its own gets one. A poll is held about a minute by the server. */
const MAX_CALL_MS = 75_000;

/** Milliseconds since the epoch. */
export function deadlineOf(call: RawCall): number {
  const asked = call.getDeadline();
  return Math.min(asked instanceof Date ? asked.getTime() : asked, Date.now() + MAX_CALL_MS);
}

export function answerOf(answer: UpstreamAnswer): DoorAnswer {
  return 'ok' in answer ? { bytes: answer.ok } : upstreamStatus(answer.error);
}
