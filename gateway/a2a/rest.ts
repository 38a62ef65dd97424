/** The HTTP+JSON binding: the paths of A2A 1.0, each also under `/{tenant}/`. */
import {
  ListTasksRequest,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  type ListTasksResponse,
} from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { Router, type Request, type Response } from 'express';
import { portcullisError } from '../../schemas/errors.ts';
import { readBody } from '../http/body.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { contextOf, sendFailure, sendStream, type BindingContext, type Streaming } from './answer.ts';
import { requireTenant } from './authority.ts';
import type { BoundHandler } from './bound-handler.ts';
import type { Call } from './call.ts';
import { queryOf, type A2aFront } from './front.ts';

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

/** Falls through to what is mounted behind it for a path that is no operation. */
export function restBinding(ctx: BindingContext, front: A2aFront, handler: BoundHandler, streaming: Streaming): Router {
  const router = Router();
  const run = async (req: Request, res: Response, operation: (on: Operation) => Promise<void>) => {
    try {
      const call = await front.open('HTTP+JSON', req, res);
      front.requireProtocol(req, res);
      await operation(operationOf(ctx, streaming, req, res, call));
    } catch (thrown) {
      sendFailure(ctx, 'HTTP+JSON', res, thrown, null);
    }
  };
  const on = (method: Method, path: string, operation: (on: Operation) => Promise<void>) => {
    for (const route of [path, `/:tenant${path}`]) router[method](route, (req, res) => run(req, res, operation));
  };

  on('post', '/message\\:send', async ({ req, context, tenant, json }) => {
    json(sentAnswer(await handler.sendMessage(await sendRequest(ctx, req, tenant), context)));
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
  return router;
}

function operationOf(ctx: BindingContext, streaming: Streaming, req: Request, res: Response, call: Call): Operation {
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
async function readParameters(ctx: BindingContext, req: Request): Promise<unknown> {
  const bytes = await readBody(req, ctx.limits.jsonBytes);
  if (bytes.length === 0) return {};
  const [type = ''] = (req.get('content-type') ?? '').split(';');
  if (!JSON_TYPES.includes(type.trim().toLowerCase())) {
    throw portcullisError('content_type_not_supported', { reason: 'it is sent as application/a2a+json' });
  }
  return readStrictJson(bytes);
}

async function sendRequest(ctx: BindingContext, req: Request, tenant: string): Promise<SendMessageRequest> {
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

function sentAnswer(sent: Message | Task): unknown {
  return 'messageId' in sent ? { message: Message.toJSON(sent) } : { task: Task.toJSON(sent) };
}

/** Every field of a list is always there, which ProtoJSON alone would leave out when empty. */
function listAnswer({ tasks, nextPageToken, pageSize, totalSize }: ListTasksResponse, artifacts: boolean): unknown {
  const shown = tasks.map((task): unknown => {
    const plain: unknown = Task.toJSON(task);
    return { ...(artifacts ? { artifacts: [] } : {}), ...(typeof plain === 'object' ? plain : {}) };
  });
  return { tasks: shown, nextPageToken, pageSize, totalSize };
}
