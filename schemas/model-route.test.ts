import { describe, expect, it } from 'vitest';
import { isModelAnswerHeader, modelRequestHeaders, parseModelCall } from './model-route.ts';

describe('calls of a model', () => {
  it.each([
    ['POST', '/v1/messages', 'anthropic'],
    ['POST', '/v1/messages?beta=true', 'anthropic'],
    ['POST', '/v1/messages/count_tokens?beta=true', 'anthropic'],
    ['POST', '/v1/responses', 'openai'],
    ['POST', '/v1/responses/compact', 'openai'],
    ['POST', '/v1/chat/completions', 'openai'],
    ['GET', '/v1/models?client_version=0.171.0', 'anthropic,openai'],
    ['GET', '/v1/models/a-model:latest', 'anthropic,openai'],
  ])('pass: %s %s', (method, target, apis) => {
    expect(parseModelCall(method, target)).toMatchObject({ method, target, apis: apis.split(',') });
  });

  it.each([
    ['GET', '/v1/messages'],
    ['POST', '/v1/models'],
    ['POST', '//v1/messages'],
    ['POST', '/v1/messages/'],
    ['POST', '/v1/messages/../files'],
    ['POST', '/v1/messages/%2e%2e/files'],
    ['POST', '/v1%2fmessages'],
    ['POST', '/V1/messages'],
    ['POST', '/v1/messages?beta=true&a=b'],
    ['POST', '/v1/messages\n'],
    ['POST', 'http://evil.example/v1/messages'],
    ['POST', '@evil.example/v1/messages'],
    ['GET', '/v1/models/../files'],
    ['GET', '/v1/models/a/b'],
    ['GET', `/v1/models/${'a'.repeat(300)}`],
    ['GET', '/v1/responses/resp_1'],
    ['GET', '/v1/messages/batches'],
    ['DELETE', '/v1/models/a'],
  ])('[inv-05] do not pass: %s %j', (method, target) => {
    expect(parseModelCall(method, target)).toBeNull();
  });
});

describe('headers', () => {
  it('[inv-15] of a request none is one that a host takes for a credential', () => {
    const given = {
      authorization: 'a',
      'x-api-key': 'b',
      'api-key': 'c',
      cookie: 'd',
      'proxy-authorization': 'e',
      'openai-organization': 'f',
      'x-goog-api-key': 'g',
      host: 'h',
      accept: 'text/event-stream',
      'anthropic-beta': 'a\r\nx-api-key: b',
    };
    expect(modelRequestHeaders(given)).toEqual({ accept: 'text/event-stream' });
  });

  it('[inv-15] of an answer only what says how it is to be read and when to come again', () => {
    const names = [
      'content-type',
      'retry-after',
      'anthropic-ratelimit-tokens-reset',
      'set-cookie',
      'location',
      'x-echo',
    ];
    expect(names.map(isModelAnswerHeader)).toEqual([true, true, true, false, false, false]);
  });
});
