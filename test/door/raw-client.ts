/** Calls to a Temporal frontend (or the door) as bytes, with any bearer: what an attacker would write. */
import { Client, credentials, Metadata, type ServiceError, type status } from '@grpc/grpc-js';
import { WORKFLOW_SERVICE } from '../../gateway/door/rpcs.ts';

export interface RawAnswer {
  /** 0 when it was answered with a message. */
  readonly code: status | 0;
  readonly details: string;
  readonly bytes: Buffer;
  readonly trailers: Metadata;
}

export interface RawClient {
  call(method: string, request: Uint8Array, options?: RawOptions): Promise<RawAnswer>;
  /** A call that can be cancelled. */
  start(method: string, request: Uint8Array, options?: RawOptions): { answer: Promise<RawAnswer>; cancel: () => void };
  close(): void;
}

interface RawOptions {
  readonly service?: string;
  readonly deadlineMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export function rawClient(address: string, bearer: string | null): RawClient {
  const client = new Client(address, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
  const start: RawClient['start'] = (method, request, options = {}) => {
    const metadata = new Metadata();
    if (bearer !== null) metadata.set('authorization', `Bearer ${bearer}`);
    for (const [name, value] of Object.entries(options.headers ?? {})) metadata.set(name, value);
    const { promise, resolve } = Promise.withResolvers<RawAnswer>();
    const call = client.makeUnaryRequest<Buffer, Buffer>(
      `/${options.service ?? WORKFLOW_SERVICE}/${method}`,
      (bytes) => bytes,
      (bytes) => bytes,
      Buffer.from(request),
      metadata,
      { deadline: Date.now() + (options.deadlineMs ?? 10_000) },
      (error: ServiceError | null, value?: Buffer) =>
        resolve({
          code: error?.code ?? 0,
          details: error?.details ?? '',
          bytes: value ?? Buffer.alloc(0),
          trailers: error?.metadata ?? new Metadata(),
        }),
    );
    return { answer: promise, cancel: () => call.cancel() };
  };
  return {
    start,
    call: (method, request, options) => start(method, request, options).answer,
    close: () => client.close(),
  };
}
