/** Sends a stream's chunks to the gateway, in order, each again until it is acknowledged or patience ends. */
import type { OutputStream } from '../../schemas/keys.ts';
import { WORKSPACE_PATHS } from '../../schemas/workspace-api.ts';
import type { GatewayClient } from './gateway-client.ts';

export interface Uploader {
  /** Queues one chunk. What waits here is bounded by what a capture keeps. */
  put(bytes: Uint8Array): void;
  /** Resolves when every chunk is acknowledged or given up; how many were given up. */
  settled(): Promise<number>;
}

/** Once a chunk has been given up the others do not each wait as long again. */
const PATIENCE_AFTER_LOSS_MS = 2_000;

export function createUploader(
  client: GatewayClient,
  task: string,
  stream: OutputStream,
  patienceMs: number,
): Uploader {
  let index = 0;
  let failed = 0;
  let tail = Promise.resolve();

  async function send(bytes: Uint8Array, at: number): Promise<void> {
    try {
      await client.call({
        method: 'PUT',
        path: WORKSPACE_PATHS.chunk(task, stream, at),
        contentType: 'application/octet-stream',
        body: bytes,
        patienceMs: failed === 0 ? patienceMs : Math.min(patienceMs, PATIENCE_AFTER_LOSS_MS),
      });
    } catch {
      // Counted, and said in the report: a result with a lost chunk satisfies nothing.
      failed += 1;
    }
  }

  return {
    put(bytes) {
      const at = index;
      index += 1;
      tail = tail.then(() => send(bytes, at));
    },
    async settled() {
      await tail;
      return failed;
    },
  };
}
