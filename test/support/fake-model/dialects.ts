/** The three APIs that the fake model host speaks, as far as agents' CLIs use them. */
import type { ServerResponse } from 'node:http';
import { field, isObject, list, offeredTools, printedOf, shellTool, type ShellTool } from './reading.ts';

/** What a turn has come to: whether a command can be run, and what the last one printed. */
export interface Situation {
  readonly hasShell: boolean;
  readonly toolOutput: string | null;
}

export type Decision = { readonly run: string } | { readonly say: string };
export type Decide = (situation: Situation) => Decision;

let count = 0;
function id(prefix: string): string {
  count += 1;
  return `${prefix}_${String(count).padStart(6, '0')}`;
}

/** `POST /v1/messages` of Anthropic. */
export function answerMessages(res: ServerResponse, body: unknown, decide: Decide): void {
  const shell = shellTool(offeredTools(body));
  const results = list(field(list(field(body, 'messages')).at(-1), 'content')).filter(
    (block) => field(block, 'type') === 'tool_result',
  );
  const toolOutput =
    results.length === 0 ? null : results.map((block) => printedOf(field(block, 'content'))).join('\n');
  const decision = decide({ hasShell: shell !== null, toolOutput });
  const called = 'run' in decision && shell !== null ? { shell, command: decision.run } : null;
  const said = 'say' in decision ? decision.say : '';
  const block =
    called === null
      ? { type: 'text', text: said }
      : { type: 'tool_use', id: id('toolu'), name: called.shell.name, input: called.shell.arguments(called.command) };
  const message = {
    id: id('msg'),
    type: 'message',
    role: 'assistant',
    model: field(body, 'model'),
    content: [block],
    stop_reason: called === null ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  };
  if (field(body, 'stream') !== true) {
    res.writeHead(200, { 'content-type': 'application/json', 'request-id': id('req') }).end(JSON.stringify(message));
    return;
  }
  const delta =
    called === null
      ? { type: 'text_delta', text: said }
      : { type: 'input_json_delta', partial_json: JSON.stringify(called.shell.arguments(called.command)) };
  const opened = called === null ? { type: 'text', text: '' } : { ...block, input: {} };
  const { stop_reason, stop_sequence, usage } = message;
  events(res, [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: opened },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
    { type: 'message_stop' },
  ]);
}

/** `POST /v1/responses` of OpenAI. */
export function answerResponses(res: ServerResponse, body: unknown, decide: Decide): void {
  const shell = shellTool(offeredTools(body));
  const last = list(field(body, 'input')).at(-1);
  const isResult = /_call_output$/.test(String(field(last, 'type')));
  const decision = decide({ hasShell: shell !== null, toolOutput: isResult ? printedOf(field(last, 'output')) : null });
  const item =
    'run' in decision && shell !== null
      ? callItem(shell, decision.run)
      : {
          id: id('msg'),
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'say' in decision ? decision.say : '', annotations: [] }],
        };
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  const response = {
    id: id('resp'),
    object: 'response',
    status: 'completed',
    model: field(body, 'model'),
    output: [item],
    usage,
  };
  if (field(body, 'stream') !== true) {
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(response));
    return;
  }
  events(res, [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ]);
}

function callItem(shell: ShellTool, command: string): object {
  const group = shell.namespace === null ? {} : { namespace: shell.namespace };
  const ids = { id: id('fc'), call_id: id('call'), name: shell.name, ...group, status: 'completed' };
  return shell.kind === 'custom'
    ? { type: 'custom_tool_call', ...ids, input: shell.text(command) }
    : { type: 'function_call', ...ids, arguments: JSON.stringify(shell.arguments(command)) };
}

/** `POST /v1/chat/completions` of OpenAI. */
export function answerChat(res: ServerResponse, body: unknown, decide: Decide): void {
  const shell = shellTool(offeredTools(body));
  const last = list(field(body, 'messages')).at(-1);
  const isResult = field(last, 'role') === 'tool';
  const decision = decide({
    hasShell: shell !== null,
    toolOutput: isResult ? printedOf(field(last, 'content')) : null,
  });
  const called = 'run' in decision && shell !== null;
  const message = called
    ? {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            index: 0,
            id: id('call'),
            type: 'function',
            function: { name: shell.name, arguments: JSON.stringify(shell.arguments(decision.run)) },
          },
        ],
      }
    : { role: 'assistant', content: 'say' in decision ? decision.say : '' };
  const finish_reason = called ? 'tool_calls' : 'stop';
  const common = { id: id('chatcmpl'), created: 1, model: field(body, 'model') };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  if (field(body, 'stream') !== true) {
    const choices = [{ index: 0, message, finish_reason }];
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }));
    return;
  }
  const chunk = { ...common, object: 'chat.completion.chunk' };
  events(
    res,
    [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage },
    ],
    true,
  );
}

function events(res: ServerResponse, all: readonly object[], ends = false): void {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const event of all) {
    const type = isObject(event) ? event['type'] : undefined;
    const name = typeof type === 'string' ? `event: ${type}\n` : '';
    res.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
  res.end(ends ? 'data: [DONE]\n\n' : '');
}
