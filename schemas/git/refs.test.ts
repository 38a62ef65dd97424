import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NAME_PATTERN } from '../names.ts';
import { branchOf, branchRef, checkedReviewName, isBranch, OWN_REFS, reviewsRef } from './refs.ts';

test('a producer has a branch of its own, and whoever only reads has none', () => {
  expect(branchOf('forge', 'T-048')).toBe('portcullis/T-048');
  expect(branchOf('lore', 'T-048')).toBe('portcullis-docs/T-048');
  for (const role of ['sentinel', 'verifier', 'vessel', 'operator'] as const)
    expect(branchOf(role, 'T-048')).toBeNull();
});

test.each([
  '',
  '-x',
  '/x',
  'x/',
  'x.',
  'a..b',
  'a//b',
  'a/.b',
  'a./b',
  'x.lock',
  'x.lock/y',
  'a b',
  'a~1',
  'a^',
  'a:b',
  'a\nb',
  'a@{1}',
  'é',
])('[inv-19] %j names no branch', (text) => {
  expect(isBranch(text)).toBe(false);
  expect(() => branchRef(text)).toThrow(expect.objectContaining({ code: 'schema_invalid' }));
});

test('[inv-05] no name of a branch or ticket leads out of its place', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('a', 'R', '-', '_', '.', '/', '@', '{', '\\', ':', '~', '^', '?', ' ', '\n'),
        maxLength: 12,
      }),
      (text) => {
        if (isBranch(text)) expect(branchRef(text)).toMatch(/^refs\/heads\/[A-Za-z0-9][A-Za-z0-9._/-]*$/);
        const refOf = () => reviewsRef(text).slice(`${OWN_REFS}/reviews/`.length);
        if (NAME_PATTERN.test(text) && isBranch(text)) expect(refOf()).toBe(text);
        else expect(refOf).toThrow(expect.objectContaining({ code: 'schema_invalid' }));
      },
    ),
  );
});

test('a review has a plain name, in at most four parts', () => {
  expect(checkedReviewName('round-2/segment-1-eval.md')).toBe('round-2/segment-1-eval.md');
  for (const name of ['.git/x', 'a/../b', 'a//b', 'a.', 'a/b/c/d/e', ''])
    expect(() => checkedReviewName(name), name).toThrow();
});
