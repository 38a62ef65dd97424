/**
 * The way from an agent's CLI to the model of its role: which calls of a model's API pass (DESIGN section 2, egress). The same
 * rule holds in the workspace, at the gateway and at the egress process. No call names a host: the credential's role does.
 */

/** APIs that a model's host can speak. */
export const MODEL_APIS = ['anthropic', 'openai'] as const;
export type ModelApi = (typeof MODEL_APIS)[number];

/** Path prefix of the route, at the gateway and at the egress process. */
export const MODEL_PREFIX = '/model';

/** Headers between gateway and egress, beside those of `schemas/egress.ts`. */
export const MODEL_HEADERS = {
  /** Which host: the role's model, as the registry of workspaces names it. */
  host: 'x-portcullis-model',
  /** Whose credential is spent: its id, for the log. */
  credential: 'x-portcullis-credential',
} as const;

/** Largest request, bytes: a long conversation with a few pictures. */
export const MODEL_REQUEST_BYTES = 16 * 1024 * 1024;

/** Of a request's headers only these travel on. None of them is one that a host could take for a credential. */
export const MODEL_REQUEST_HEADERS = [
  'accept',
  'content-type',
  'anthropic-version',
  'anthropic-beta',
  'openai-beta',
  // Says of codex's requests that their tools are in the input.
  'x-openai-internal-codex-responses-lite',
] as const;

const ANSWER_HEADERS = /^(?:content-type|cache-control|retry-after(?:-ms)?|x-should-retry|request-id|x-request-id)$/;
const LIMIT_HEADERS = /^(?:anthropic|x)-ratelimit-[a-z0-9-]{1,64}$/;

/** Whether a header of an answer travels back. */
export function isModelAnswerHeader(name: string): boolean {
  return ANSWER_HEADERS.test(name) || LIMIT_HEADERS.test(name);
}

export interface ModelCall {
  readonly method: 'GET' | 'POST';
  /** With its query: what is asked of the host, below its URL. */
  readonly target: string;
  /** The same without the query, for logs. */
  readonly path: string;
  /** The APIs that have this call. */
  readonly apis: readonly ModelApi[];
}

const MODEL_ID = '[A-Za-z0-9][A-Za-z0-9._:-]{0,127}';

/**
 * Every call that passes; a target must match one of them whole, so that neither another host (absolute form), nor `..`, nor
 * an encoded slash, nor a query of one's own is ever part of one. Nothing here reads what an earlier call left at the host.
 */
const CALLS: readonly {
  readonly method: ModelCall['method'];
  readonly target: RegExp;
  readonly apis: readonly ModelApi[];
}[] = [
  { method: 'POST', target: /^\/v1\/messages(?:\/count_tokens)?(?:\?beta=true)?$/, apis: ['anthropic'] },
  { method: 'POST', target: /^\/v1\/(?:responses(?:\/compact)?|chat\/completions)$/, apis: ['openai'] },
  {
    method: 'GET',
    target: /^\/v1\/models(?:\?(?:limit=[0-9]{1,4}|client_version=[0-9A-Za-z.-]{1,32}))?$/,
    apis: MODEL_APIS,
  },
  { method: 'GET', target: new RegExp(`^/v1/models/${MODEL_ID}$`), apis: MODEL_APIS },
];

/**
 * The call that a request is; `null` when it is none that passes.
 *
 * @example parseModelCall('POST', '/v1/messages?beta=true')?.path // '/v1/messages'
 */
export function parseModelCall(method: string, target: string): ModelCall | null {
  if (target.length > 256) return null;
  const found = CALLS.find((call) => call.method === method && call.target.test(target));
  if (found === undefined) return null;
  const [path = ''] = target.split('?');
  return { method: found.method, target, path, apis: found.apis };
}

/** Header values are written on: nothing in them but what a header of these holds. */
const VALUE = /^[\x20-\x7e]{1,1024}$/;

/** The headers of a request that travel on, each once. */
export function modelRequestHeaders(headers: Readonly<Record<string, string | readonly string[] | undefined>>) {
  return Object.fromEntries(
    MODEL_REQUEST_HEADERS.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' && VALUE.test(value) ? [[name, value] as const] : [];
    }),
  );
}

/** The headers of an answer that travel back. */
export function modelAnswerHeaders(headers: Readonly<Record<string, string | readonly string[] | undefined>>) {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      isModelAnswerHeader(name) && typeof value === 'string' && VALUE.test(value) ? [[name, value] as const] : [],
    ),
  );
}
