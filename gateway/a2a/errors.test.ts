import { describe, expect, test } from 'vitest';
import { ERROR_CATALOGUE, isErrorCode, portcullisError } from '../../schemas/errors.ts';
import { errorOf } from '../../client/errors.ts';
import { errorAnswer } from './errors.ts';

const CODES = Object.keys(ERROR_CATALOGUE).filter(isErrorCode);

describe.each(CODES)('the error %s', (code) => {
  const error = portcullisError(code, { id: 'x', what: 'task', reason: 'because' });

  test('is a google.rpc.Status on HTTP+JSON, with the status of the catalogue', () => {
    const { status, body } = errorAnswer('HTTP+JSON', error, null);
    expect(status).toBe(error.edge.http);
    expect(body).toMatchObject({
      error: {
        code: error.edge.http,
        status: expect.stringMatching(/^[A-Z_]+$/) as string,
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', metadata: { portcullis_code: code } }],
      },
    });
  });

  test('is a JSON-RPC error with an array of details, and keeps the id', () => {
    const { body } = errorAnswer('JSONRPC', error, 7);
    expect(body).toMatchObject({
      jsonrpc: '2.0',
      id: 7,
      error: { code: error.edge.rpc, data: [{ metadata: { portcullis_code: code } }] },
    });
  });

  test('is the same error again at our client', () => {
    const { status, body } = errorAnswer('HTTP+JSON', error, null);
    const again = errorOf(status, JSON.stringify(body));
    expect({ code: again.code, message: again.message }).toEqual({ code, message: error.message });
  });
});

test('what is away says when to come back, what is unknown says how to be known', () => {
  expect(errorAnswer('JSONRPC', portcullisError('store_unavailable', {}), null)).toMatchObject({
    status: 503,
    headers: { 'Retry-After': '2' },
  });
  expect(errorAnswer('JSONRPC', portcullisError('unauthenticated'), null)).toMatchObject({
    status: 401,
    headers: { 'WWW-Authenticate': expect.stringContaining('Bearer') as string },
  });
});

test.each([
  ['', 500, 'internal'],
  ['<html>', 502, 'gateway_unavailable'],
  ['{"error":{"code":"no_such_code"}}', 400, 'internal'],
])('an answer that names no error of ours (%s) is read all the same', (body, status, code) => {
  expect(errorOf(status, body).code).toBe(code);
});
