import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { boundedVariables, methodsOf, refillOf, unboundedGrowth, withMethod } from './code.ts';
import { writeMethod } from './recipes.ts';

const code = readFileSync(new URL('../../../../examples/node-project/src/token-bucket.js', import.meta.url), 'utf8');

test('reads the methods, the bound and the refill of the example', () => {
  expect(methodsOf(code)).toEqual(['take', 'waitFor']);
  expect(boundedVariables(code)).toEqual([{ variable: 'tokens', bound: 'capacity' }]);
  expect(refillOf(code)).toBe('refill');
  expect(unboundedGrowth(code)).toEqual([]);
});

test('a method is written in the names that the code uses', () => {
  const renamed = code.replaceAll('tokens', 'level').replaceAll('refill', 'catchUp').replaceAll('capacity', 'most');
  const written = writeMethod('give', renamed);
  expect(written?.method).toContain('catchUp(time);');
  expect(written?.method).toContain('level += count;');
  expect(methodsOf(withMethod(renamed, written?.method ?? '') ?? '')).toEqual(['take', 'waitFor', 'give']);
});

test('growth past a bound is seen where it stands, and what is bounded or of another variable is not', () => {
  const changed = withMethod(code, writeMethod('give', code)?.method ?? '') ?? '';
  const [found] = unboundedGrowth(changed);
  expect(found).toMatchObject({ statement: 'tokens += count', bound: 'capacity', amount: 'count' });
  expect(changed.split('\n')[(found?.line ?? 0) - 1]).toContain('tokens += count;');
  expect(unboundedGrowth(changed.replace('tokens += count', 'tokens = Math.min(capacity, tokens + count)'))).toEqual(
    [],
  );
  expect(unboundedGrowth(`${code}\nother += 1;\nself.tokens += 1;`)).toEqual([]);
});

test('nothing is written for code that keeps no bound, and no method that is not known', () => {
  expect(writeMethod('give', code.replaceAll('Math.min', 'Math.max'))).toBeNull();
  expect(writeMethod('fly', code)).toBeNull();
});
