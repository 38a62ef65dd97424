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
  ])('[inv-05] is refused: %s', (_, body) => {
    expect(() => check(body)).toThrow(/does not pass this/);
    expect(() => check(body, { hostedTools: true })).not.toThrow();
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
