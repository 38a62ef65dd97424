import { describe, expect, test } from 'vitest';
import { makeRejectedTask, readRejectedTask } from './rejected.ts';
import { base32, contextIdOf, taskIdOf } from '../../activities/content/task-id.ts';

const KEY = Buffer.alloc(32, 1);
const refused = { pair: 'T-1.a_b', code: 'tool_unknown', at: 1_796_000_000_000 } as const;

describe('the id of a rejected task', () => {
  test('holds everything, for whoever has the key and the tenant', () => {
    const task = makeRejectedTask(KEY, 'local', refused);
    expect(readRejectedTask(KEY, 'local', task.id)).toEqual(task);
    expect(readRejectedTask(KEY, 'other', task.id)).toBeNull();
    expect(readRejectedTask(Buffer.alloc(32, 2), 'local', task.id)).toBeNull();
  });

  test('is another one each time', () => {
    const ids = Array.from({ length: 50 }, () => makeRejectedTask(KEY, 'local', refused).id);
    expect(new Set(ids).size).toBe(50);
  });

  test('[inv-19] changed in any place it is nothing', () => {
    const { id } = makeRejectedTask(KEY, 'local', refused);
    for (let place = 0; place < id.length; place += 1) {
      const other = id[place] === 'a' ? 'b' : 'a';
      expect(readRejectedTask(KEY, 'local', id.slice(0, place) + other + id.slice(place + 1))).toBeNull();
    }
    for (const wrong of ['', 'r', id.slice(1), `${id}x`, id.repeat(20)]) {
      expect(readRejectedTask(KEY, 'local', wrong)).toBeNull();
    }
  });
});

describe('ids', () => {
  test('are the same on every replica with the key, and on no other', () => {
    expect(taskIdOf(KEY, 'verify/local/p/00/1')).toBe(taskIdOf(KEY, 'verify/local/p/00/1'));
    expect(taskIdOf(KEY, 'verify/local/p/00/1')).toMatch(/^[a-z2-7]{26}$/);
    const ids = [
      taskIdOf(KEY, 'verify/local/p/00/1'),
      taskIdOf(KEY, 'verify/local/p/00/2'),
      taskIdOf(Buffer.alloc(32, 2), 'verify/local/p/00/1'),
      contextIdOf(KEY, 'local', 'p', 'e1'),
      contextIdOf(KEY, 'local', 'p', 'e2'),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  // The vectors of RFC 4648 section 10, in lower case and without padding.
  test.each([
    ['', ''],
    ['f', 'my'],
    ['fo', 'mzxq'],
    ['foo', 'mzxw6'],
    ['foob', 'mzxw6yq'],
    ['fooba', 'mzxw6ytb'],
    ['foobar', 'mzxw6ytboi'],
  ])('base32 of "%s"', (text, encoded) => {
    expect(base32(Buffer.from(text))).toBe(encoded);
  });
});
