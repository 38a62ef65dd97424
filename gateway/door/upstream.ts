/** The door's own channel to Temporal: raw bytes in, raw bytes out. No header of a caller gets there but its client's name. */
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import proto from '@temporalio/proto';
import { encodeFailure } from './payloads.ts';
import { WORKFLOW_SERVICE, type DoorMethod } from './rpcs.ts';

export type UpstreamAnswer = { readonly ok: Buffer } | { readonly error: ServiceError };

export interface UpstreamCall {
  readonly answer: Promise<UpstreamAnswer>;
  /** A poll that nobody waits for must end upstream, or a task is handed to it and lost. */
  cancel(): void;
}

const FORWARDED = ['client-name', 'client-version'] as const;
const FAIL_DEADLINE_MS = 10_000;
const identity = (bytes: Buffer): Buffer => bytes;

export class Upstream {
  readonly #client: Client;
  readonly #namespace: string;

  constructor(address: string, namespace: string, maxBytes: number) {
    this.#namespace = namespace;
    this.#client = new Client(address, credentials.createInsecure(), {
      // Sealing adds 33 bytes; Temporal's own limit is the one that counts.
      'grpc.max_receive_message_length': maxBytes * 2,
      'grpc.keepalive_time_ms': 30_000,
      'grpc.keepalive_timeout_ms': 10_000,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2_000,
    });
  }

  /** Starts one call. `deadline`: milliseconds since the epoch. */
  call(method: DoorMethod, request: Uint8Array, deadline: number, callerHeaders: Metadata): UpstreamCall {
    const { promise, resolve } = Promise.withResolvers<UpstreamAnswer>();
    const call = this.#client.makeUnaryRequest<Buffer, Buffer>(
      `/${WORKFLOW_SERVICE}/${method}`,
      identity,
      identity,
      Buffer.from(request),
      forwarded(callerHeaders),
      { deadline },
      (error, value) => resolve(error === null ? { ok: value ?? Buffer.alloc(0) } : { error }),
    );
    return { answer: promise, cancel: () => call.cancel() };
  }

  /**
   * Ends a task that cannot be handed out or whose answer was refused, so that its workflow learns at once and does not wait
   * for the heartbeat timeout. Best effort: the timeout is still there.
   */
  async failTask(taskToken: Uint8Array, type: string, message: string): Promise<void> {
    const { RespondActivityTaskFailedRequest } = proto.temporal.api.workflowservice.v1;
    const request = RespondActivityTaskFailedRequest.encode({
      taskToken,
      namespace: this.#namespace,
      identity: 'portcullis-door',
      failure: proto.temporal.api.failure.v1.Failure.decode(encodeFailure(type, message)),
    }).finish();
    await this.call('RespondActivityTaskFailed', request, Date.now() + FAIL_DEADLINE_MS, new Metadata()).answer;
  }

  close(): void {
    this.#client.close();
  }
}

function forwarded(from: Metadata): Metadata {
  const metadata = new Metadata();
  for (const name of FORWARDED) {
    const [value] = from.get(name);
    if (typeof value === 'string' && value.length <= 128) metadata.set(name, value);
  }
  return metadata;
}
