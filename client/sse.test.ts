import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serverEvents, type ServerEvent } from './sse.ts';

let answer: (res: ServerResponse) => void = (res) => void res.end();
const server = createServer((_req, res) => answer(res));
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function events(write: (res: ServerResponse) => void, silenceMs = 5_000): Promise<readonly ServerEvent[]> {
  answer = write;
  const { port } = server.address() as AddressInfo;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ port, host: '127.0.0.1' }, resolve).on('error', reject).end();
  });
  const seen: ServerEvent[] = [];
  for await (const event of serverEvents(response, silenceMs)) seen.push(event);
  return seen;
}

describe('server-sent events', () => {
  test('are read with their numbers, however they are cut into packets; comments are none', async () => {
    const text = 'id: 1\ndata: {"a":"é"}\n\n: heartbeat\n\ndata: two\ndata: lines\n\nid: 3\ndata: x\n\n';
    const seen = await events((res) => {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += 1) res.write(bytes.subarray(at, at + 1));
      res.end();
    });
    expect(seen).toEqual([
      { id: 1, data: '{"a":"é"}' },
      { id: null, data: 'two\nlines' },
      { id: 3, data: 'x' },
    ]);
  });

  test('a broken connection is a cut, never an end', async () => {
    await expect(
      events((res) => {
        res.write('data: x\n\n');
        setImmediate(() => res.destroy());
      }),
    ).rejects.toMatchObject({ code: 'stream_cut' });
  });

  test('so is one that is silent for too long', async () => {
    await expect(events((res) => void res.write('data: x\n\n'), 50)).rejects.toMatchObject({ code: 'stream_cut' });
  });
});
