import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isVerdictToken, normaliseFailureClass, verdictOfWord } from './words.ts';

test.each([
  ['APPROVED', 'APPROVED'],
  ['approved', 'APPROVED'],
  ['approve', 'APPROVED'],
  ['Agreed', 'APPROVED'],
  ['REJECTED', 'REJECTED'],
  ['reject', 'REJECTED'],
  ['CHANGES_REQUESTED', 'REJECTED'],
  ['changes_requested', 'REJECTED'],
  ['ISSUES', 'REJECTED'],
  ['', null],
  ['approved ', null],
  ['APPROVED!', null],
  ['not approved', null],
  ['changes requested', null],
  ['UNPARSEABLE', null],
  ['ıssues', null],
  ['constructor', null],
])('the word %j stands for %s', (word, verdict) => expect(verdictOfWord(word)).toBe(verdict));

test('a token has one spelling', () => {
  expect(['RETRY_FORJA', 'retry_forja', 'RETRY_FORJA ', 'toString'].map(isVerdictToken)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test.each([
  ['type-error', 'type-error'],
  ['TYPE_FAIL', 'type-fail'],
  ['TypeFail', 'type-fail'],
  ['RLSFail', 'rls-fail'],
  ['ts(5097)', 'ts-5097'],
  ['  peer  dep/conflict ', 'peer-dep-conflict'],
  ['Größe', 'gro-e'],
  ['Café crème', 'cafe-creme'],
  ['--a--', 'a'],
  ['a\u0000b\n', 'a-b'],
  ['', null],
  ['!?', null],
  ['型エラー', null],
  ['x'.repeat(65), 'x'.repeat(64)],
  [`${'x'.repeat(63)}-y`, 'x'.repeat(63)],
])('the class %j is kept as %j', (text, kept) => expect(normaliseFailureClass(text)).toBe(kept));

test('whatever comes in, a class is lower-kebab of 1 to 64 characters or nothing, and stays as it is the second time', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const kept = normaliseFailureClass(text);
      if (kept === null) return;
      expect(kept).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(kept.length).toBeLessThanOrEqual(64);
      expect(normaliseFailureClass(kept)).toBe(kept);
    }),
    { numRuns: 5000 },
  );
});
