import { expect, test } from 'vitest';
import { eventNames } from './watch.ts';

const STREAM = 'event: ping\n\nevent: data\ndata: {"id":"b91237f5"}\n\n\nevent: data\r\ndata: {}\r\n\r\n';

test.each([1, 2, 7, 1000])('events are told whole when they come in pieces of %i bytes', async (size) => {
  expect(await namesOf(pieces(STREAM, size))).toEqual(['ping', 'data', 'data']);
});

test('a line of a megabyte is not kept', async () => {
  const long = `event: data\ndata: ${'x'.repeat(1_000_000)}\n\n`;
  expect(await namesOf(pieces(long, 65_536))).toEqual(['data']);
});

test('an event that was cut off is not told', async () => {
  expect(await namesOf(pieces('event: data\ndata: {"id"', 5))).toEqual([]);
});

async function namesOf(body: AsyncIterable<Uint8Array>): Promise<string[]> {
  const names: string[] = [];
  for await (const name of eventNames(body)) names.push(name);
  return names;
}

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let start = 0; start < bytes.length; start += size)
    yield await Promise.resolve(bytes.slice(start, start + size));
}
