/** The HTTP+JSON binding: the paths of A2A 1.0, each also under `/{tenant}/`. */
import { ListTasksRequest, SendMessageRequest, StreamResponse, Task, type ListTasksResponse } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { Router, type Request, type Response } from 'express';
import { OUTPUT_STREAMS } from '../../schemas/keys.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { GatewayContext } from '../context.ts';
import { readBody } from '../http/body.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { contextOf, sendFailure, sendStream, type Streaming } from './answer.ts';
import { ownTask, requireTenant } from './authority.ts';
import type { Call } from './call.ts';
import { openCall, queryOf, requireProtocol } from './front.ts';
import type { VerifyRequestHandler } from './handler.ts';

/** One operation: what it answers, or how it streams. */
interface Operation {
  readonly req: Request;
  readonly call: Call;
  readonly context: ServerCallContext;
  readonly id: string;
  readonly tenant: string;
  readonly json: (value: unknown) => void;
  readonly stream: (events: AsyncGenerator<StreamResponse, void, undefined>) => Promise<void>;
}

type Method = 'get' | 'post' | 'delete';

export function restBinding(ctx: GatewayContext, handler: VerifyRequestHandler, streaming: Streaming): Router {
  const router = Router();
  const run = async (req: Request, res: Response, operation: (on: Operation) => Promise<void>) => {
    try {
      const call = await openCall(ctx, 'HTTP+JSON', req, res);
      requireProtocol(req, res);
      await operation(operationOf(ctx, streaming, req, res, call));
    } catch (thrown) {
      sendFailure(ctx, 'HTTP+JSON', res, thrown, null);
    }
  };
  const on = (method: Method, path: string, operation: (on: Operation) => Promise<void>) => {
    for (const route of [path, `/:tenant${path}`]) router[method](route, (req, res) => run(req, res, operation));
  };

  on('post', '/message\\:send', async ({ req, context, tenant, json }) => {
    const task = await handler.sendMessage(await sendRequest(ctx, req, tenant), context);
    json({ task: Task.toJSON(task) });
  });
  on('post', '/message\\:stream', async ({ req, context, tenant, stream }) => {
    await stream(handler.sendMessageStream(await sendRequest(ctx, req, tenant), context));
  });
  for (const method of ['get', 'post'] as const) {
    on(method, '/tasks/:id\\:subscribe', async ({ req, context, id, tenant, stream }) => {
      await readParameters(ctx, req);
      await stream(handler.resubscribe({ id, tenant }, context));
    });
  }
  on('post', '/tasks/:id\\:cancel', async ({ req, context, id, tenant, json }) => {
    await readParameters(ctx, req);
    json(Task.toJSON(await handler.cancelTask({ id, tenant }, context)));
  });
  on('get', '/tasks/:id', async ({ req, context, id, tenant, json }) => {
    const historyLength = wholeNumber(queryOf(req), 'historyLength');
    json(Task.toJSON(await handler.getTask({ id, tenant, historyLength }, context)));
  });
  on('get', '/tasks', async ({ req, context, tenant, json }) => {
    const params = listRequest(req, tenant);
    json(listAnswer(await handler.listTasks(params, context), params.includeArtifacts ?? false));
  });
  on('get', '/extendedAgentCard', async ({ context }) => {
    await handler.getAuthenticatedExtendedAgentCard({}, context);
  });
  const configs = '/tasks/:id/pushNotificationConfigs';
  on('post', configs, ({ context }) => handler.createTaskPushNotificationConfig({}, context));
  on('get', configs, ({ context }) => handler.listTaskPushNotificationConfigs({}, context));
  on('get', `${configs}/:config`, ({ context }) => handler.getTaskPushNotificationConfig({}, context));
  on('delete', `${configs}/:config`, ({ context }) => handler.deleteTaskPushNotificationConfig({}, context));

  router.get('/tasks/:id/output/:stream/:chunk', async (req, res) => {
    try {
      await sendChunk(ctx, await openCall(ctx, 'HTTP+JSON', req, res), req, res);
    } catch (thrown) {
      sendFailure(ctx, 'HTTP+JSON', res, thrown, null);
    }
  });
  router.use((req, res) => {
    const id = req.path.slice(0, 200);
    sendFailure(ctx, 'HTTP+JSON', res, portcullisError('not_found', { what: 'operation', id }), null);
  });
  return router;
}

function operationOf(ctx: GatewayContext, streaming: Streaming, req: Request, res: Response, call: Call): Operation {
  const tenant = parameter(req, 'tenant');
  requireTenant(call.principal, tenant);
  return {
    req,
    call,
    context: contextOf(call),
    id: parameter(req, 'id'),
    tenant,
    json: (value) => void res.status(200).type('application/a2a+json').send(JSON.stringify(value)),
    stream: (events) => sendStream(ctx, streaming, call, res, events, (event) => StreamResponse.toJSON(event)),
  };
}

function parameter(req: Request, name: string): string {
  const value = req.params[name];
  return typeof value === 'string' ? value : '';
}

const JSON_TYPES: readonly string[] = ['', 'application/json', 'application/a2a+json'];

/** The body, or nothing. @throws `content_type_not_supported`, `body_too_large` and the `json_…` codes */
async function readParameters(ctx: GatewayContext, req: Request): Promise<unknown> {
  const bytes = await readBody(req, ctx.limits.jsonBytes);
  if (bytes.length === 0) return {};
  const [type = ''] = (req.get('content-type') ?? '').split(';');
  if (!JSON_TYPES.includes(type.trim().toLowerCase())) {
    throw portcullisError('content_type_not_supported', { reason: 'it is sent as application/a2a+json' });
  }
  return readStrictJson(bytes);
}

async function sendRequest(ctx: GatewayContext, req: Request, tenant: string): Promise<SendMessageRequest> {
  const body = await readParameters(ctx, req);
  let params: SendMessageRequest;
  try {
    params = SendMessageRequest.fromJSON(body);
  } catch {
    throw portcullisError('schema_invalid', { path: 'body', reason: 'does not have the shape of SendMessageRequest' });
  }
  return tenant === '' ? params : { ...params, tenant };
}

function wholeNumber(query: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = query.get(name);
  if (text === undefined || text === '') return undefined;
  if (!/^-?[0-9]{1,9}$/.test(text)) throw portcullisError('schema_invalid', { path: name, reason: 'is no number' });
  return Number(text);
}

function listRequest(req: Request, tenant: string): ListTasksRequest {
  const query = queryOf(req);
  const status = query.get('status') ?? '';
  const params = ListTasksRequest.fromJSON({
    tenant: tenant === '' ? (query.get('tenant') ?? '') : tenant,
    contextId: query.get('contextId') ?? '',
    status: status === '' ? 0 : status,
    pageSize: wholeNumber(query, 'pageSize'),
    pageToken: query.get('pageToken') ?? '',
    historyLength: wholeNumber(query, 'historyLength'),
    statusTimestampAfter: query.get('statusTimestampAfter'),
    includeArtifacts: query.get('includeArtifacts') === 'true',
  });
  return params;
}

/** Every field of a list is always there, which ProtoJSON alone would leave out when empty. */
function listAnswer({ tasks, nextPageToken, pageSize, totalSize }: ListTasksResponse, artifacts: boolean): unknown {
  const shown = tasks.map((task): unknown => {
    const plain: unknown = Task.toJSON(task);
    return { ...(artifacts ? { artifacts: [] } : {}), ...(typeof plain === 'object' ? plain : {}) };
  });
  return { tasks: shown, nextPageToken, pageSize, totalSize };
}

/** One stored chunk of output: what the events of a stream name. */
async function sendChunk(ctx: GatewayContext, call: Call, req: Request, res: Response): Promise<void> {
  const task = await ownTask(ctx, call.principal, parameter(req, 'id'));
  const stream = OUTPUT_STREAMS.find((name) => name === parameter(req, 'stream'));
  const index = parameter(req, 'chunk');
  const bytes =
    stream === undefined || !/^[0-9]{1,6}$/.test(index)
      ? null
      : await ctx.store.readChunk(task.tenant, task.taskId, stream, Number(index));
  if (bytes === null) throw portcullisError('not_found', { what: 'chunk', id: index.slice(0, 16) });
  res.status(200).set({ 'Content-Type': 'application/octet-stream', 'X-Content-Type-Options': 'nosniff' }).end(bytes);
}
