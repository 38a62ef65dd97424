/** Stored chunks of output: what the events of a stream name. Not A2A, so it needs no version and no extension. */
import type { RequestHandler, Request, Response } from 'express';
import { portcullisError } from '../../schemas/errors.ts';
import { OUTPUT_STREAMS } from '../../schemas/keys.ts';
import type { GatewayContext } from '../context.ts';
import { sendFailure } from './answer.ts';
import { ownTask } from './authority.ts';
import type { Call } from './call.ts';
import type { A2aFront } from './front.ts';

/** Where it is mounted below the HTTP+JSON binding. */
export const CHUNK_ROUTE = '/tasks/:id/output/:stream/:chunk';

export function chunkReader(ctx: GatewayContext, front: A2aFront): RequestHandler {
  return async (req, res) => {
    try {
      await sendChunk(ctx, await front.open('HTTP+JSON', req, res), req, res);
    } catch (thrown) {
      sendFailure(ctx, 'HTTP+JSON', res, thrown, null);
    }
  };
}

async function sendChunk(ctx: GatewayContext, call: Call, req: Request, res: Response): Promise<void> {
  const { id, stream: name, chunk: index } = req.params;
  const task = await ownTask(ctx, call.principal, String(id));
  const stream = OUTPUT_STREAMS.find((known) => known === name);
  const bytes =
    stream === undefined || !/^[0-9]{1,6}$/.test(String(index))
      ? null
      : await ctx.store.readChunk(task.tenant, task.taskId, stream, Number(index));
  if (bytes === null) throw portcullisError('not_found', { what: 'chunk', id: String(index).slice(0, 16) });
  res.status(200).set({ 'Content-Type': 'application/octet-stream', 'X-Content-Type-Options': 'nosniff' }).end(bytes);
}
