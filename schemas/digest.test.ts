import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { contentDigest, digestOf, DIGEST_KINDS, parseDigest, sortedSet, type DigestKind } from './digest.ts';

const kinds = Object.keys(DIGEST_KINDS) as DigestKind[];

test('a digest is SHA-256 over the domain, a NUL and the canonical bytes', () => {
  const expected = createHash('sha256').update('portcullis:request:v1\0{"a":1,"b":"x"}').digest('hex');
  expect(digestOf('request', { b: 'x', a: 1 })).toBe(`sha256:${expected}`);
});

test('the same bytes under two kinds never share a digest', () => {
  expect(new Set(kinds.map((kind) => digestOf(kind, { same: true }))).size).toBe(kinds.length);
});

test('golden: the digest of {} under each kind', () => {
  expect(Object.fromEntries(kinds.map((kind) => [kind, digestOf(kind, {})]))).toMatchSnapshot();
});

test('a digest of bytes is plain SHA-256', () => {
  const bytes = new TextEncoder().encode('portcullis');
  expect(contentDigest(bytes)).toBe(`sha256:${createHash('sha256').update(bytes).digest('hex')}`);
});

test.each([
  '',
  'sha256:',
  'sha256:AB',
  `sha1:${'0'.repeat(64)}`,
  `sha256:${'0'.repeat(63)}`,
  `sha256:${'0'.repeat(64)}\n`,
])('[inv-19] refuses %j as a digest', (text) => expect(() => parseDigest('request', text)).toThrow('64 hex digits'));

test('a set is sorted by code unit and a repeated member is an error', () => {
  expect(sortedSet(['b', 'a', 'Z'], (x) => x)).toEqual(['Z', 'a', 'b']);
  expect(() => sortedSet(['a', 'b', 'a'], (x) => x)).toThrow('is in the set twice');
});
