/**
 * What a call asks of the model's host, read before it is sent: which model, that the host is asked for nothing but text, and
 * of nothing that it keeps. A host that searches, fetches or connects for its caller is a way to every other host; and all
 * roles and tenants share its key, so what one of them left there would be anybody's who knows its id.
 */
import type { JsonValue } from '../../schemas/canonical.ts';
import { MODEL_REQUEST_BYTES, type ModelCall } from '../../schemas/model-route.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import type { ModelHost } from './model-hosts.ts';
import { checkItems } from './model-items.ts';
import { isObject, isThere, kept, objectsIn, refused, type JsonObject } from './model-values.ts';

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
  checkNothingKept(document, host.hostedTools);
  if (!host.hostedTools) checkNothingHosted(document);
}

/** Everything that is said is in the request itself. A stored prompt has tools of its own, besides. */
function checkNothingKept(document: JsonObject, hostedTools: boolean): void {
  for (const name of ['previous_response_id', 'conversation', 'prompt'] as const) {
    if (isThere(document[name])) throw kept(name);
  }
  checkItems(document['input'], hostedTools);
  for (const said of objectsIn(document['messages'])) {
    const sound = said['audio'];
    if (isObject(sound) && typeof sound['id'] === 'string') throw kept('an earlier sound');
  }
}

function checkNothingHosted(document: JsonObject): void {
  for (const name of ['mcp_servers', 'web_search_options', 'container', 'background'] as const) {
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
  for (const part of objectsIn(value)) {
    // Tools can be offered in the middle of a conversation.
    if (Array.isArray(part['tools'])) checkTools(part['tools'] as readonly JsonValue[]);
    const isUrlSource = part['type'] === 'url' && part['url'] !== undefined;
    if (isUrlSource || ['image_url', 'file_url'].some((name) => isAddress(part[name]))) {
      throw refused('the host would have to fetch an address');
    }
    // Nobody can put one there from a workspace, so it is another's.
    for (const name of ['file_id', 'container_id'] as const) if (typeof part[name] === 'string') throw kept(name);
  }
}

function isAddress(value: JsonValue | undefined): boolean {
  const text = isObject(value) ? value['url'] : value;
  return typeof text === 'string' && !text.startsWith('data:');
}
