import { expect, test } from 'vitest';
import { createLogger, redactSecrets } from './logging.ts';

const SECRET = 'c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldC0';

function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  write(
    createLogger({ part: 'test', level: 'trace', destination: { write: (line: string) => void lines.push(line) } }),
  );
  return lines.join('');
}

test.each([
  ['an authorization header', { headers: { authorization: `Bearer ${SECRET}` } }],
  ['raw headers', { rawHeaders: ['Authorization', `Bearer ${SECRET}`] }],
  ['a password', { store: { password: SECRET } }],
  ['a claim code', { body: { claimCode: SECRET } }],
  ['a claim code of snake case', { claim_code: SECRET }],
  ['a session token', { 'Coder-Session-Token': SECRET }],
  ['a bearer in a message', { note: `got pc1.local.c1.${SECRET} from it` }],
  ['a bearer whose tenant holds dots', { note: `pc1.a.b.c.c1.${SECRET}` }],
  ['a password in a URL', { url: `redis://control:${SECRET}@127.0.0.1:6379/0` }],
  ['a private key', { pem: `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----\n` }],
  ['JSON inside a string', { body: JSON.stringify({ password: SECRET }) }],
  ['JSON inside a string inside a string', { body: JSON.stringify({ body: JSON.stringify({ password: SECRET }) }) }],
  ['a password with quotes in it', { password: `"${SECRET}"` }],
])('[inv-15] %s never reaches the log', (_, fields) => {
  const line = logged((logger) => logger.info(fields, 'seen'));
  expect(line).not.toContain(SECRET);
  expect(line).toContain('[redacted]');
  expect(JSON.parse(line)).toMatchObject({ level: 'info', part: 'test', msg: 'seen' });
});

test('[inv-15] neither do the secrets in an error and its cause', () => {
  const error = new Error(`refused pc1.local.c1.${SECRET}`, { cause: new Error(`redis://x:${SECRET}@h`) });
  expect(logged((logger) => logger.error({ err: error }, 'failed'))).not.toContain(SECRET);
});

test('[inv-15] neither does one in the message or in a child logger', () => {
  const line = logged((logger) => logger.child({ token: SECRET }).warn(`Authorization: Bearer ${SECRET}`));
  expect(line).not.toContain(SECRET);
});

test('an ordinary line is left as it is', () => {
  const line = '{"level":"info","taskId":"t-1","url":"http://127.0.0.1:7300/readyz","tokens":3,"msg":"polled"}\n';
  expect(redactSecrets(line)).toBe(line);
});

test('a long line is redacted in bounded time', () => {
  const started = performance.now();
  const hostile = ['pc1.', '\\', 'a', '-----BEGIN PRIVATE KEY-----', 'Bearer ', 'a://b:', '{"password":"'];
  for (const text of hostile) {
    redactSecrets(text.repeat(Math.ceil(200_000 / text.length)));
    redactSecrets(JSON.stringify({ note: text.repeat(Math.ceil(200_000 / text.length)) }));
  }
  expect(performance.now() - started).toBeLessThan(2_000);
});
