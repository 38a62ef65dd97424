/**
 * What a conversation is made of, item by item. A host that has an item's id may take it for a reference to what it kept under that
 * id; so one with an id passes only whole: its kind is known, and all of its kind that says something is there.
 */
import type { JsonValue } from '../../schemas/canonical.ts';
import { isGiven, isObject, isThere, kept, objectsIn, refused, type JsonObject } from './model-values.ts';

interface Whole {
  /** All of these say something. */
  readonly all?: readonly string[];
  /** So does one of these. */
  readonly one?: readonly string[];
  /** These are there, and may be empty: a call needs no arguments, and a command need not print anything. */
  readonly there?: readonly string[];
}

/** Kinds that whoever calls makes by itself, or hands back as it got them. */
const OWN: Readonly<Record<string, Whole>> = {
  message: { all: ['role', 'content'] },
  agent_message: { all: ['content'] },
  // What is encrypted is the item itself, for whoever has the host's own key.
  reasoning: { one: ['encrypted_content', 'content'] },
  compaction: { all: ['encrypted_content'] },
  compaction_summary: { all: ['encrypted_content'] },
  context_compaction: { all: ['encrypted_content'] },
  function_call: { all: ['call_id', 'name'], there: ['arguments'] },
  function_call_output: { all: ['call_id'], there: ['output'] },
  custom_tool_call: { all: ['call_id', 'name'], there: ['input'] },
  custom_tool_call_output: { all: ['call_id'], there: ['output'] },
  tool_search_call: { all: ['call_id'], there: ['arguments'] },
  tool_search_output: { all: ['call_id'], there: ['tools'] },
  apply_patch_call: { all: ['call_id', 'operation'] },
  apply_patch_call_output: { all: ['call_id', 'status'] },
  local_shell_call: { all: ['action'] },
  // Its id is that of the call.
  local_shell_call_output: { there: ['output'] },
  additional_tools: { there: ['tools'] },
};

/** Kinds of what the host did by itself. */
const HOSTED: Readonly<Record<string, Whole>> = {
  web_search_call: { all: ['action'] },
  file_search_call: { one: ['queries', 'results'] },
  code_interpreter_call: { one: ['code', 'outputs', 'container_id'] },
  image_generation_call: { all: ['result'] },
  computer_call: { one: ['action', 'actions'] },
  computer_call_output: { all: ['call_id', 'output'] },
  shell_call: { all: ['call_id', 'action'] },
  shell_call_output: { all: ['call_id'], there: ['output'] },
  mcp_list_tools: { all: ['server_label'], there: ['tools'] },
  mcp_call: { all: ['server_label', 'name'], there: ['arguments'] },
  mcp_approval_request: { all: ['server_label', 'name'], there: ['arguments'] },
  // It has nothing but the id of what was asked.
  mcp_approval_response: { all: ['approval_request_id'] },
};

/** @throws `model_refused` */
export function checkItems(input: JsonValue | undefined, hostedTools: boolean): void {
  const items = Array.isArray(input) ? (input as readonly JsonValue[]) : [input];
  for (const item of items) if (isObject(item)) checkItem(item, hostedTools);
  for (const inner of objectsIn(input)) {
    if (inner['type'] === 'item_reference') throw kept('an item reference');
    const whole = hasId(inner) ? wholeOf(inner, true) : null;
    if (whole !== null && !isWhole(inner, whole)) throw kept('an item by its id alone');
  }
}

function checkItem(item: JsonObject, hostedTools: boolean): void {
  if (!hostedTools && typeof item['type'] === 'string' && Object.hasOwn(HOSTED, item['type'])) {
    throw refused('an item is the host’s own doing');
  }
  if (!hasId(item)) return;
  // A reference need not say that it is one; a message need not either, but somebody says something in it.
  const whole = isThere(item['type']) ? wholeOf(item, hostedTools) : OWN['message'];
  if (!whole) throw kept('an item of no kind that is known');
  if (!isWhole(item, whole)) throw kept('an item by its id alone');
}

function wholeOf({ type }: JsonObject, hostedTools: boolean): Whole | null {
  if (typeof type !== 'string') return null;
  if (Object.hasOwn(OWN, type)) return OWN[type] ?? null;
  return hostedTools && Object.hasOwn(HOSTED, type) ? (HOSTED[type] ?? null) : null;
}

function isWhole(item: JsonObject, { all = [], one, there = [] }: Whole): boolean {
  const given = (name: string) => isGiven(item[name]);
  return all.every(given) && (one?.some(given) ?? true) && there.every((name) => isThere(item[name]));
}

/** An empty one names nothing. */
function hasId({ id }: JsonObject): boolean {
  return isThere(id) && id !== '';
}
