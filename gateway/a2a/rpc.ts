/** The JSON-RPC binding: one path. The SDK dispatches methods; reading, refusing and streaming are ours. */
import { JsonRpcTransportHandler } from '@a2a-js/sdk/server';
import type { Request, RequestHandler, Response } from 'express';
import type { JsonValue } from '../../schemas/canonical.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { readJsonBody } from '../http/body.ts';
import { contextOf, sendFailure, sendStream, type BindingContext, type Streaming } from './answer.ts';
import type { BoundHandler } from './bound-handler.ts';
import type { Call } from './call.ts';
import type { A2aFront } from './front.ts';

type RpcId = string | number | null;

export function jsonRpcBinding(
  ctx: BindingContext,
  front: A2aFront,
  handler: BoundHandler,
  streaming: Streaming,
): RequestHandler {
  const transport = new JsonRpcTransportHandler(handler);
  return async (req, res) => {
    let id: RpcId = null;
    try {
      const call = await front.open('JSONRPC', req, res);
      requireJson(req);
      const body = await readJsonBody(req, ctx.limits.jsonBytes);
      id = idOf(body);
      front.requireProtocol(req, res);
      await dispatch(ctx, transport, streaming, call, requestOf(body), res);
    } catch (thrown) {
      sendFailure(ctx, 'JSONRPC', res, thrown, id);
    }
  };
}

async function dispatch(
  ctx: BindingContext,
  transport: JsonRpcTransportHandler,
  streaming: Streaming,
  call: Call,
  body: Record<string, unknown>,
  res: Response,
): Promise<void> {
  const answer = await transport.handle(body, contextOf(call));
  if (Symbol.asyncIterator in answer) {
    await sendStream(ctx, streaming, call, res, answer, (event) => event);
    return;
  }
  if (call.failure !== null) throw call.failure;
  // Whatever our own handler throws is in `failure`; what is left is a params object that the SDK could not read.
  if (Reflect.get(Object(Reflect.get(answer, 'error')), 'code') === INTERNAL) {
    throw portcullisError('schema_invalid', { path: 'params', reason: 'does not have the shape of this method' });
  }
  res.status(200).json(answer);
}

const INTERNAL = -32603;

function requireJson(req: Request): void {
  const [type = ''] = (req.get('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    throw portcullisError('content_type_not_supported', { reason: 'JSON-RPC is sent as application/json' });
  }
}

function idOf(body: JsonValue): RpcId {
  const id: unknown = body === null || typeof body !== 'object' ? null : Reflect.get(body, 'id');
  return typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id)) ? id : null;
}

/** @throws `rpc_invalid`; a call without an id has nowhere to be answered, so it is not run. */
function requestOf(body: JsonValue): Record<string, unknown> {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw portcullisError('rpc_invalid', { reason: 'it is not one object' });
  }
  if (idOf(body) === null) throw portcullisError('rpc_invalid', { reason: 'it has no id' });
  const request: Record<string, unknown> = Object.fromEntries(Object.entries(body));
  if (request['jsonrpc'] !== '2.0' || typeof request['method'] !== 'string') {
    throw portcullisError('rpc_invalid', { reason: 'jsonrpc or method is missing' });
  }
  return request;
}
