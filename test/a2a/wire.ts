/** A2A as bytes on the wire, on both bindings, without any client of ours in between. */
import { randomUUID } from 'node:crypto';
import { A2A_ERROR_CODE_FIELD, VERIFY_EXTENSION } from '../../schemas/verify/a2a.ts';
import type { VerifyAsk } from '../../client/gateway-client.ts';

export const BINDINGS = ['HTTP+JSON', 'JSONRPC'] as const;
export type Binding = (typeof BINDINGS)[number];

export interface Operation {
  readonly name: string;
  readonly http: { readonly method: string; readonly path: string; readonly body?: unknown };
  readonly rpc: { readonly method: string; readonly params: unknown };
  readonly streams?: boolean;
}

export interface Sent {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  /** The catalogue's code when it is an error. */
  readonly code: string | null;
  /** The operation's result, without the envelope of its binding. */
  readonly result: unknown;
}

export const PROTOCOL = { 'A2A-Version': '1.0', 'A2A-Extensions': VERIFY_EXTENSION } as const;

export function message(ask: VerifyAsk, messageId: string = randomUUID()) {
  return { messageId, role: 'ROLE_USER', parts: [{ data: ask }] };
}

/** Every operation of A2A 1.0, about this task and this request. */
export function operations(task: string, ask: VerifyAsk): readonly Operation[] {
  const send = () => ({ message: message(ask), configuration: { returnImmediately: true } });
  const path = `/tasks/${task}`;
  const push = `${path}/pushNotificationConfigs`;
  const config = { taskId: task, url: 'http://127.0.0.1:9/hook' };
  return [
    op('SendMessage', 'POST', '/message:send', send()),
    { ...op('SendStreamingMessage', 'POST', '/message:stream', send()), streams: true },
    op('GetTask', 'GET', path, { id: task }),
    op('ListTasks', 'GET', '/tasks', {}),
    op('CancelTask', 'POST', `${path}:cancel`, { id: task }),
    { ...op('SubscribeToTask', 'GET', `${path}:subscribe`, { id: task }), streams: true },
    {
      ...op('SubscribeToTask', 'POST', `${path}:subscribe`, { id: task }),
      name: 'SubscribeToTask by POST',
      streams: true,
    },
    op('CreateTaskPushNotificationConfig', 'POST', push, config),
    op('GetTaskPushNotificationConfig', 'GET', `${push}/1`, { taskId: task, id: '1' }),
    op('ListTaskPushNotificationConfigs', 'GET', push, { taskId: task }),
    op('DeleteTaskPushNotificationConfig', 'DELETE', `${push}/1`, { taskId: task, id: '1' }),
    op('GetExtendedAgentCard', 'GET', '/extendedAgentCard', {}),
  ];
}

function op(name: string, method: string, path: string, params: unknown): Operation {
  return {
    name,
    http: method === 'POST' ? { method, path, body: params } : { method, path },
    rpc: { method: name, params },
  };
}

/** The response itself, its body not read: for streams. */
export function request(
  url: string,
  binding: Binding,
  operation: Operation,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<Response> {
  const { http, rpc } = operation;
  const more = signal === undefined ? {} : { signal };
  if (binding === 'JSONRPC') {
    return fetch(`${url}/a2a/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...rpc }),
      ...more,
    });
  }
  const body = http.body === undefined ? {} : { body: JSON.stringify(http.body) };
  const type = http.body === undefined ? {} : { 'content-type': 'application/a2a+json' };
  return fetch(`${url}/a2a/v1${http.path}`, {
    method: http.method,
    headers: { ...type, ...headers },
    ...body,
    ...more,
  });
}

/** One exchange, read whole. */
export async function exchange(...call: Parameters<typeof request>): Promise<Sent> {
  return read(await request(...call));
}

export async function read(response: Response): Promise<Sent> {
  const text = await response.text();
  const body = (response.headers.get('content-type') ?? '').includes('json') ? (JSON.parse(text) as unknown) : text;
  const error = field(body, 'error');
  const details = field(error, 'data') ?? field(error, 'details');
  const code = field(field(Array.isArray(details) ? details[0] : null, 'metadata'), A2A_ERROR_CODE_FIELD);
  return {
    status: response.status,
    headers: response.headers,
    body,
    code: typeof code === 'string' ? code : error === undefined ? null : 'unnamed',
    result: field(body, 'result') ?? body,
  };
}

export function field(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name) as unknown;
}

export interface Frame {
  readonly id: string | null;
  /** The event without the envelope of its binding; `null` for a comment. */
  readonly event: unknown;
}

/** The frames of a stream, as they come. */
export async function* frames(response: Response): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of response.body ?? []) {
    rest += decoder.decode(part as Uint8Array, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const id = /^id: (.*)$/m.exec(block)?.[1] ?? null;
      const data = /^data: (.*)$/m.exec(block)?.[1];
      const value: unknown = data === undefined ? null : JSON.parse(data);
      yield { id, event: field(value, 'result') ?? value };
    }
  }
}

/** The number of an event, from the extension's metadata. */
export function seqOf(event: unknown): number | null {
  const inner = field(event, 'statusUpdate') ?? field(event, 'artifactUpdate') ?? field(event, 'task');
  const seq = field(field(field(inner, 'metadata'), VERIFY_EXTENSION), 'seq');
  return typeof seq === 'number' ? seq : null;
}
