import { describe, expect, it } from 'vitest';
import { parseModelCall } from '../../schemas/model-route.ts';
import type { ModelHost } from './model-hosts.ts';
import { checkModelRequest } from './model-request.ts';

const HOST: ModelHost = {
  name: 'default',
  base: new URL('https://model.example'),
  apis: ['anthropic', 'openai'],
  credential: null,
  key: null,
  models: null,
  hostedTools: false,
};
const CALL = parseModelCall('POST', '/v1/responses');

function check(body: unknown, change: Partial<ModelHost> = {}): void {
  if (CALL === null) throw new Error('no call');
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  checkModelRequest({ ...HOST, ...change }, CALL, bytes);
}

describe('what a host is asked', () => {
  it.each([
    [
      'tools of the caller',
      {
        tools: [
          { name: 'Bash', input_schema: {} },
          { type: 'function', name: 'a' },
        ],
      },
    ],
    ['a group of them', { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'custom', name: 'exec' }] }] }],
    ['them in the input', { input: [{ type: 'additional_tools', tools: [{ type: 'custom', name: 'exec' }] }] }],
    ['a picture that is there', { messages: [{ content: [{ type: 'image_url', image_url: { url: 'data:a' } }] }] }],
    [
      'an address that a tool was called with',
      { messages: [{ content: [{ type: 'tool_use', input: { type: 'url', url: 'https://a.example' } }] }] },
    ],
    ['an address in the text', { input: 'see https://a.example' }],
  ])('passes: %s', (_, body) => {
    expect(() => check(body)).not.toThrow();
  });

  it.each([
    ['web search', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['web search of the other API', { tools: [{ type: 'web_search' }] }],
    ['a connector', { tools: [{ type: 'mcp', server_url: 'https://evil.example' }] }],
    ['connectors', { mcp_servers: [{ url: 'https://evil.example' }] }],
    ['code that the host runs', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
    ['one of these within a group', { tools: [{ type: 'namespace', tools: [{ type: 'web_search' }] }] }],
    ['one of these in the input', { input: [{ type: 'additional_tools', tools: [{ type: 'web_search' }] }] }],
    ['a tool that is none', { tools: ['web_search'] }],
    ['a picture elsewhere', { input: [{ content: [{ type: 'input_image', image_url: 'https://evil.example/?a' }] }] }],
    ['a file elsewhere', { input: [{ content: [{ type: 'input_file', file_url: 'https://evil.example' }] }] }],
    ['a document elsewhere', { messages: [{ content: [{ source: { type: 'url', url: 'https://evil.example' } }] }] }],
    ['what goes on when nobody listens', { background: true }],
    [
      'a search of before',
      { input: [{ type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'a' } }] },
    ],
    ['a picture of before', { input: [{ type: 'image_generation_call', id: 'ig_1', result: 'AAAA' }] }],
    ['code that ran before', { input: [{ type: 'code_interpreter_call', id: 'ci_1', code: 'a' }] }],
    ['an approval of what a connector does', { input: [{ type: 'mcp_approval_response', approval_request_id: 'a' }] }],
  ])('[inv-05] is refused: %s', (_, body) => {
    expect(() => check(body)).toThrow(/does not pass this/);
    expect(() => check(body, { hostedTools: true })).not.toThrow();
  });

  it.each([
    ['the answer to an earlier call', { previous_response_id: 'resp_1', input: 'go on' }],
    ['a conversation', { conversation: { id: 'conv_1' }, input: 'go on' }],
    ['a stored prompt', { prompt: { id: 'pmpt_1', version: '2' } }],
    ['an item of it', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['an item that does not say what it is', { input: [{ id: 'msg_1' }] }],
    ['an item of nobody’s', { input: [{ id: 'msg_1', role: 'assistant' }] }],
    ['an item of no kind', { input: [{ id: 'msg_1', type: null }] }],
    ['a picture that the host drew', { input: [{ type: 'image_generation_call', id: 'ig_1' }] }],
    ['what it thought', { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }],
    [
      'its thoughts, of which nothing is there',
      { input: [{ type: 'reasoning', id: 'rs_1', summary: [], content: [] }] },
    ],
    ['its thoughts, encrypted to nothing', { input: [{ type: 'reasoning', id: 'rs_1', encrypted_content: '' }] }],
    ['its thoughts, given as a number', { input: [{ type: 'reasoning', id: 'rs_1', content: 1 }] }],
    ['its thoughts, which are null', { input: [{ type: 'reasoning', id: 'rs_1', content: [null, {}, ''] }] }],
    ['an empty picture', { input: [{ type: 'image_generation_call', id: 'ig_1', result: '' }] }],
    ['a message of which there is no more', { input: [{ type: 'message', id: 'msg_1', role: 'assistant' }] }],
    ['a message in which nothing is said', { input: [{ id: 'msg_1', role: 'user', content: [] }] }],
    ['a message whose text is empty', { input: [{ id: 'msg_1', role: 'user', content: '' }] }],
    ['an item whose kind is empty', { input: [{ type: '', id: 'msg_1', role: 'user', content: 'a' }] }],
    ['an item whose kind is no text', { input: [{ type: ['message'], id: 'msg_1', role: 'user', content: 'a' }] }],
    ['an item of a kind that nobody knows', { input: [{ type: 'toString', id: 'x_1', content: 'a' }] }],
    ['a call', { input: [{ type: 'function_call', id: 'fc_1' }] }],
    [
      'a call without what it was called with',
      { input: [{ type: 'function_call', id: 'f', name: 'f', call_id: 'c' }] },
    ],
    ['an answer to a call', { input: [{ type: 'function_call_output', id: 'fco_1', call_id: 'c' }] }],
    ['what it summed up', { input: [{ type: 'compaction', id: 'cmp_1', encrypted_content: '' }] }],
    ['a search', { input: [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }] }],
    ['one item, which is no list', { input: { type: 'message', id: 'msg_1', role: 'assistant' } }],
    ['what it spoke', { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }],
  ])('[inv-05] is not asked of what an earlier call left there, whatever tools it has: %s', (_, body) => {
    expect(() => check(body)).toThrow(/does not pass this/);
    expect(() => check(body, { hostedTools: true })).toThrow(/does not pass this/);
  });

  it.each([
    ['a file', { input: [{ content: [{ type: 'input_file', file_id: 'file_1' }] }] }],
    ['a picture', { input: [{ content: [{ type: 'input_image', file_id: 'file_1' }] }] }],
    ['a file of the older API', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] }],
    ['a file as a source', { messages: [{ content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }] }],
    ['a file for its container', { messages: [{ content: [{ type: 'container_upload', file_id: 'f' }] }] }],
    ['a container', { container: 'container_1' }],
    ['what ran in one', { input: [{ type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', code: '' }] }],
  ])('[inv-05] without tools of its own it is not asked of %s that lies there', (_, body) => {
    expect(() => check(body)).toThrow(/does not pass this/);
    expect(() => check(body, { hostedTools: true })).not.toThrow();
  });

  it('what is said whole passes, with the ids that the host gave it', () => {
    const input = [
      { role: 'user', content: 'hello' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'AAAA' },
      { type: 'reasoning', id: 'rs_2', summary: [], content: [{ type: 'reasoning_text', text: 'so' }] },
      { type: 'reasoning', summary: [] },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'yes' }] },
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{"file_id":"f"}' },
      { type: 'function_call_output', call_id: 'c', output: '{"file_id":"f"}' },
      { type: 'function_call', id: 'fc_2', call_id: 'd', name: 'f', arguments: '' },
      { type: 'function_call_output', id: 'fco_2', call_id: 'd', output: '' },
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'e', name: 'apply_patch', input: '*** Begin Patch' },
      { type: 'custom_tool_call_output', call_id: 'e', output: '' },
      { type: 'local_shell_call', id: 'ls_1', call_id: 'g', action: { type: 'exec', command: ['ls'] } },
      { type: 'local_shell_call_output', id: 'g', output: '' },
      { type: 'tool_search_call', id: 'ts_1', call_id: 'h', execution: 'client', arguments: {} },
      { type: 'tool_search_output', call_id: 'h', execution: 'client', tools: [] },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'AAAA' },
      { id: 'msg_2', role: 'assistant', content: 'yes' },
      { type: 'message', id: '', role: 'user', content: [] },
    ];
    const properties = { file_id: { type: 'string' }, container_id: { type: 'string' } };
    const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', properties, required: ['file_id'] } }];
    const more = { previous_response_id: null, conversation: null, prompt: null, store: false };
    expect(() => check({ ...more, input: [...input, { type: 'additional_tools', tools }], tools })).not.toThrow();
    const used = { type: 'tool_use', id: 't', name: 'f', input: { file_id: 'f', type: 'item_reference' } };
    expect(() => check({ messages: [{ role: 'assistant', content: [used] }] })).not.toThrow();
  });

  it('[inv-05] another model than the role’s is refused, in every spelling of the key', () => {
    const models = ['small'];
    expect(() => check({ model: 'small' }, { models })).not.toThrow();
    for (const body of [{ model: 'large' }, {}, { model: ['small'] }, '{"model":"small","mod\\u0065l":"large"}']) {
      expect(() => check(body, { models })).toThrow();
    }
  });

  it('[inv-19] what is deeper than a conversation, or is no object, is refused', () => {
    expect(() => check('['.repeat(200) + ']'.repeat(200))).toThrow(/deeper/);
    expect(() => check('[]')).toThrow(/does not pass/);
  });
});
