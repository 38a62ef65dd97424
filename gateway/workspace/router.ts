/** The HTTP calls of a workspace (schemas/workspace-api.ts): claim exchange, registration, start of a run, output. */
import { Router } from 'express';
import { portcullisError } from '../../schemas/errors.ts';
import { OUTPUT_STREAMS, type OutputStream } from '../../schemas/keys.ts';
import { MAX_CHUNK_BYTES, WORKSPACE_PATHS } from '../../schemas/workspace-api.ts';
import { authenticate, seatOf, type AuthorizedCall } from '../authority/authenticate.ts';
import type { Connections } from '../connections.ts';
import type { GatewayContext } from '../context.ts';
import { parsed, readBody, readJsonBody } from '../http/body.ts';
import { claimExchangeSchema, executorRegistrationSchema, runStartedSchema } from './bodies.schema.ts';
import { storeChunk } from './chunks.ts';
import { exchangeClaim } from './claims.ts';
import { recordRunStarted, registerExecutor } from './registration.ts';

const SMALL_BODY_BYTES = 4096;

export function workspaceRouter(ctx: GatewayContext, connections: Connections): Router {
  const router = Router({ caseSensitive: true, strict: true });

  router.post(WORKSPACE_PATHS.exchange, async (req, res) => {
    ctx.allowances.exchanges.spend(connections.nameOf(req.socket), 1);
    const exchange = parsed(claimExchangeSchema, await readJsonBody(req, SMALL_BODY_BYTES));
    res.setHeader('Cache-Control', 'no-store');
    res.json(await exchangeClaim(ctx, exchange));
  });

  router.post(WORKSPACE_PATHS.register, async (req, res) => {
    const seat = await executorSeat(ctx, req, 'register an executor');
    const { bootId } = parsed(executorRegistrationSchema, await readJsonBody(req, SMALL_BODY_BYTES));
    await registerExecutor(ctx, seat, bootId);
    res.status(204).end();
  });

  router.post('/v1/executor/tasks/:task/started', async (req, res) => {
    const seat = await executorSeat(ctx, req, 'start a run');
    const run = parsed(runStartedSchema, await readJsonBody(req, SMALL_BODY_BYTES));
    await recordRunStarted(ctx, seat, req.params.task, run);
    res.status(204).end();
  });

  router.put('/v1/executor/tasks/:task/:stream/:index', async (req, res) => {
    const seat = await executorSeat(ctx, req, 'upload output');
    const stream = streamOf(req.params.stream);
    const index = indexOf(req.params.index);
    const bytes = await readBody(req, MAX_CHUNK_BYTES);
    if (bytes.length === 0) throw portcullisError('schema_invalid', { path: 'chunk', reason: 'is empty' });
    await storeChunk(ctx, seat, { taskId: req.params.task, stream, index, bytes });
    res.status(204).end();
  });

  return router;
}

async function executorSeat(ctx: GatewayContext, call: AuthorizedCall, action: string) {
  const principal = await authenticate(ctx, call);
  // Apart from the door's: output that comes too fast must not use up what heartbeats need.
  ctx.allowances.calls.spend(`http/${principal.tenant}/${principal.id}`, 1);
  return seatOf(principal, action);
}

function streamOf(text: string): OutputStream {
  const stream = OUTPUT_STREAMS.find((name) => name === text);
  if (stream === undefined) throw portcullisError('not_found', { what: 'stream', id: text.slice(0, 32) });
  return stream;
}

function indexOf(text: string): number {
  if (!/^(?:0|[1-9][0-9]{0,5})$/.test(text)) {
    throw portcullisError('schema_invalid', { path: 'index', reason: 'must be a whole number' });
  }
  return Number(text);
}
