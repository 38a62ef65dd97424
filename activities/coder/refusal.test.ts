import { expect, test } from 'vitest';
import { type Exchange, exchanges, recorded } from '../../test/coder/recordings.ts';
import { readRefusal, refusalCode, refusalError } from './refusal.ts';

const refused = exchanges().filter(({ status }) => status >= 400);

test('every recorded refusal has a code of the catalogue by its status alone', () => {
  const codes = new Map(refused.map(({ status }) => [status, refusalCode(status)]));
  expect(Object.fromEntries([...codes].sort(([a], [b]) => a - b))).toEqual({
    400: 'coder_refused',
    401: 'coder_unauthenticated',
    403: 'coder_forbidden',
    404: 'coder_unseen',
    405: 'coder_refused',
    409: 'coder_conflict',
    410: 'coder_gone',
    412: 'coder_conflict',
    429: 'coder_rate_limited',
    500: 'coder_unavailable',
  });
});

test('no sentence of the server decides anything: with all of them scrambled the error is the same', () => {
  expect(refused.length).toBeGreaterThan(80);
  for (const exchange of refused) {
    const scrambled = { ...exchange, body: scramble(exchange.body) };
    expect(errorOf(scrambled)).toEqual(errorOf(exchange));
  }
});

test('the validation fields are told, and the request id that finds it in the log of the server', () => {
  const details = errorOf(recorded('02', 10)).details;
  expect(details).toMatchObject({ status: 400, fields: 'template_id, template_version_id' });
  expect(details.requestId).toMatch(/^[0-9a-f-]{36}$/);
});

test('a body that is not a problem of the server is still a refusal', () => {
  const response = new Response('<html>', { status: 502 });
  expect(refusalError('read build', readRefusal(response, '<html>')).code).toBe('coder_unavailable');
});

function errorOf({ status, headers, body }: Exchange) {
  const response = new Response(null, { status, headers: { ...headers } });
  const { code, details, message } = refusalError('read workspace', readRefusal(response, body));
  return { code, details, message };
}

function scramble(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body ?? null), (key: string, value: unknown) =>
    key === 'message' || key === 'detail' ? 'other words' : value,
  ) as unknown;
}
