/**
 * What a call asks of the model's host, read before it is sent: which model, and that the host is asked for nothing but text.
 * A host that searches, fetches or connects for its caller is a way to every other host.
 */
import type { JsonValue } from '../../schemas/canonical.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { MODEL_REQUEST_BYTES, type ModelCall } from '../../schemas/model-route.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import type { ModelHost } from './model-hosts.ts';

const LIMITS = { maxBytes: MODEL_REQUEST_BYTES, maxDepth: 128 } as const;

/** Kinds of tools that whoever calls runs by itself; without a kind it is one as well. */
const OWN_TOOLS =
  /^(?:function|custom|local_shell|apply_patch|namespace|tool_search|(?:bash|text_editor|computer|memory)_[0-9]{8})$/;

/**
 * Two readers of one body could see two models in it, so the body is read strictly.
 * @throws `model_refused`; `body_too_large` and the `json_…` codes
 */
export function checkModelRequest(host: ModelHost, call: ModelCall, body: Uint8Array): void {
  if (call.method === 'GET') {
    if (body.length > 0) throw refused('a GET has no body');
    return;
  }
  const document = readStrictJson(body, LIMITS);
  if (!isObject(document)) throw refused('the body is no object');
  const { model } = document;
  if (host.models !== null && (typeof model !== 'string' || !host.models.includes(model))) {
    throw refused('this model is not one of the role’s');
  }
  if (!host.hostedTools) checkNothingHosted(document);
}

function checkNothingHosted(document: JsonObject): void {
  for (const name of ['mcp_servers', 'web_search_options', 'container', 'conversation', 'background'] as const) {
    const value = document[name];
    if (value !== undefined && value !== null && value !== false) throw refused(`${name} is the host's own doing`);
  }
  const tools = document['tools'];
  if (tools !== undefined && tools !== null) checkTools(tools);
  // Where a picture or a document lies is fetched by the host.
  for (const name of ['messages', 'system', 'input'] as const) checkSources(document[name]);
}

function checkTools(tools: JsonValue): void {
  if (!Array.isArray(tools)) throw refused('tools is no list');
  for (const tool of tools as readonly JsonValue[]) {
    const kind = isObject(tool) ? tool['type'] : null;
    if (kind !== undefined && (typeof kind !== 'string' || !OWN_TOOLS.test(kind))) {
      throw refused('a tool is one that the host runs');
    }
    const inner = isObject(tool) ? tool['tools'] : undefined;
    if (inner !== undefined) checkTools(inner);
  }
}

function checkSources(value: JsonValue | undefined): void {
  const open: JsonValue[] = value === undefined ? [] : [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      open.push(...(next as readonly JsonValue[]));
      continue;
    }
    if (!isObject(next)) continue;
    // What a tool was called with is data to the host, whatever it looks like.
    for (const [name, inner] of Object.entries(next)) if (!CALLED_WITH.has(name)) open.push(inner);
    // Tools can be offered in the middle of a conversation.
    if (Array.isArray(next['tools'])) checkTools(next['tools'] as readonly JsonValue[]);
    const isUrlSource = next['type'] === 'url' && next['url'] !== undefined;
    if (isUrlSource || ['image_url', 'file_url'].some((name) => isAddress(next[name]))) {
      throw refused('the host would have to fetch an address');
    }
  }
}

const CALLED_WITH: ReadonlySet<string> = new Set(['input', 'arguments']);

function isAddress(value: JsonValue | undefined): boolean {
  const text = isObject(value) ? value['url'] : value;
  return typeof text === 'string' && !text.startsWith('data:');
}

type JsonObject = { readonly [name: string]: JsonValue };

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(reason: string) {
  return portcullisError('model_refused', { reason });
}
