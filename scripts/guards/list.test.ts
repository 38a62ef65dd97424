import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GUARDS } from './list.ts';

const ROOT = join(import.meta.dirname, '../..');

test.each(GUARDS)('can still be taken away: $name', ({ file, text, without, test: testFile, named }) => {
  const parts = readFileSync(join(ROOT, file), 'utf8').split(text);
  expect(parts, `occurrences of the guard in ${file}`).toHaveLength(2);
  expect(without).not.toBe(text);
  // A parameterised name is written with its placeholder.
  const tests = readFileSync(join(ROOT, testFile), 'utf8');
  const pattern = named.replace('gate again', '%s again');
  expect(tests.includes(named) || tests.includes(pattern), `a test named "${named}" in ${testFile}`).toBe(true);
});
