import { expect, test } from 'vitest';
import { frame } from './web-socket.ts';

test.each([
  [5, 2],
  [125, 2],
  [126, 4],
  [65_535, 4],
  [65_536, 10],
])('a text of %i bytes has a head of %i', (length, head) => {
  const bytes = frame(1, Buffer.alloc(length, 'a'));
  expect([bytes.length, bytes[0], bytes.subarray(head).every((byte) => byte === 97)]).toEqual([
    length + head,
    0x81,
    true,
  ]);
});
