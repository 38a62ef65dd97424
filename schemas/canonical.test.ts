import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalBytes, canonicalText } from './canonical.ts';

const plain = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger().filter((n) => !Object.is(n, -0)),
    fc.string({ unit: 'grapheme' }),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(
      fc.string({ unit: 'grapheme' }).filter((name) => name !== 'toJSON' && name !== '__proto__'),
      tie('value'),
      { maxKeys: 6, noNullPrototype: true },
    ),
  ),
})).value;

test('byte-equal with another RFC 8785 implementation on the domain both accept', () => {
  fc.assert(
    fc.property(plain, (value) => {
      expect(canonicalText(value)).toBe(canonicalize(value));
    }),
    { numRuns: 2000 },
  );
});

test('keys are ordered by code unit, not by locale or code point', () => {
  expect(canonicalText({ é: 1, z: 2, '\u{10000}': 3, '\uFFFF': 4 })).toBe('{"z":2,"é":1,"\u{10000}":3,"\uFFFF":4}');
});

class Point {
  readonly x = 1;
}
const sparse: unknown[] = [];
sparse[2] = 1;
let deep: unknown = 1;
for (let level = 0; level < 70; level += 1) deep = [deep];

test.each<[string, unknown, string]>([
  ['undefined', { a: undefined }, 'is of type undefined'],
  ['a function', { a: () => 1 }, 'is of type function'],
  ['a symbol', { a: Symbol('x') }, 'is of type symbol'],
  ['a bigint', 1n, 'is of type bigint'],
  ['a float', { a: 0.5 }, 'is not a safe integer'],
  ['an integer past 2^53', 2 ** 53, 'is not a safe integer'],
  ['NaN', Number.NaN, 'is not a safe integer'],
  ['infinity', Number.POSITIVE_INFINITY, 'is not a safe integer'],
  ['negative zero', -0, 'is negative zero'],
  ['a lone surrogate', 'a\uD800', 'lone surrogate'],
  ['a lone surrogate in a key', { 'a\uDC00': 1 }, 'lone surrogate'],
  ['a class instance', new Point(), 'is not a plain object'],
  ['a date', new Date(0), 'is not a plain object'],
  ['an object that inherits', Object.create({ inherited: 1 }), 'is not a plain object'],
  ['toJSON', { toJSON: 1 }, 'is named toJSON'],
  ['an accessor', Object.defineProperty({}, 'a', { get: () => 1, enumerable: true }), 'is an accessor'],
  ['a hidden property', Object.defineProperty({}, 'a', { value: 1, enumerable: false }), 'is not enumerable'],
  ['a symbol key', { [Symbol('k')]: 1 }, 'has a symbol key'],
  ['a sparse list', sparse, 'is a sparse list'],
  ['a list with a name', Object.assign([1], { extra: 1 }), 'is a sparse list or carries extra'],
  ['depth over 64', deep, 'is nested deeper'],
  ['4097 members', Array.from({ length: 4097 }, () => 0), 'has more than 4096'],
  ['more than 1 MiB', 'x'.repeat(1024 * 1024), 'is larger than 1 MiB'],
  ['more than 1 MiB in UTF-8 only', 'é'.repeat(600_000), 'is larger than 1 MiB'],
])('[inv-19] refuses %s', (_, value, reason) => {
  expect(() => canonicalBytes(value)).toThrow(reason);
});
