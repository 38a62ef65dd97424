/** Output of a run, chunk by chunk: stored first, then announced, and acknowledged only after both. */
import { portcullisError } from '../../schemas/errors.ts';
import type { OutputStream } from '../../schemas/keys.ts';
import type { Seat } from '../../schemas/queues.ts';
import type { GatewayContext } from '../context.ts';
import { openTaskOf } from './task.ts';

export interface OutputChunk {
  readonly taskId: string;
  readonly stream: OutputStream;
  readonly index: number;
  readonly bytes: Uint8Array;
}

/** @throws `not_found`, `limit`, `state_conflict` (ended, or that chunk is there with other bytes), `store_unavailable` */
export async function storeChunk(ctx: GatewayContext, seat: Seat, chunk: OutputChunk): Promise<void> {
  const { taskId, stream, index, bytes } = chunk;
  try {
    await openTaskOf(ctx.store, seat, taskId);
    const stored = await ctx.store.writeChunk(seat.tenant, taskId, stream, index, bytes);
    if (!stored) throw portcullisError('state_conflict', { what: `Chunk ${index} of ${stream}` });
    const event = { type: 'output', stream, chunk: index, bytes: bytes.length } as const;
    const seq = await ctx.store.appendEvent(seat.tenant, taskId, { source: stream, offset: index }, event);
    if (seq === null) throw portcullisError('state_conflict', { what: 'The task' });
    ctx.metrics.chunks.inc({ stream, outcome: 'stored' });
  } catch (thrown) {
    ctx.metrics.chunks.inc({ stream, outcome: 'refused' });
    throw thrown;
  }
}
