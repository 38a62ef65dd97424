/** The watch stream over a real connection. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { connectCoder } from '../../activities/coder/connect.ts';
import { recorded } from './recordings.ts';
import { failing, stage, TOKEN, WORKSPACE } from './stage.ts';

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

async function streaming(onOpen: (response: ServerResponse) => void) {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    onOpen(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return connectCoder({ url, token: TOKEN, timeoutMs: 200 });
}

const DATA = 'event: data\ndata: {"id":"b91237f5"}\n\n';

test('each change is a hint, a ping is none, and the stream outlives the time-out of a call', async () => {
  const coder = await streaming((response) => {
    response.write(`event: ping\n\n${DATA}`);
    // Later than the time-out: a quiet stream is no silent server.
    setTimeout(() => response.end(DATA), 400);
  });
  const hints: string[] = [];
  for await (const hint of coder.watch(WORKSPACE)) hints.push(hint);
  expect(hints).toEqual(['changed', 'changed']);
});

test('the watch ends with the signal of the caller and its reason', async () => {
  const stop = new AbortController();
  const coder = await streaming((response) => response.write(DATA));
  const watching = (async () => {
    for await (const hint of coder.watch(WORKSPACE, { signal: stop.signal })) stop.abort(new Error(`enough: ${hint}`));
  })();
  await expect(watching).rejects.toThrow('enough: changed');
});

test('leaving the loop closes the connection', async () => {
  let closed = (): void => {};
  const left = new Promise<void>((resolve) => (closed = resolve));
  const coder = await streaming((response) => response.on('close', closed).write(DATA));
  for await (const hint of coder.watch(WORKSPACE)) {
    expect(hint).toBe('changed');
    break;
  }
  await left;
});

test('a stream that breaks is told as such', async () => {
  const coder = await streaming((response) => {
    response.write(DATA);
    setImmediate(() => response.destroy());
  });
  const watching = (async () => {
    for await (const hint of coder.watch(WORKSPACE)) expect(hint).toBe('changed');
  })();
  await expect(watching).rejects.toEqual(failing('coder_unavailable'));
});

test('a workspace that is not visible cannot be watched', async () => {
  const { coder } = await stage([recorded('10', 9)]);
  const watching = coder.watch('11111111-1111-4111-8111-111111111111')[Symbol.asyncIterator]().next();
  await expect(watching).rejects.toEqual(failing('coder_unseen'));
});
