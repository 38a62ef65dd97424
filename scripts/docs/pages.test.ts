import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { referencePages } from './pages.ts';

const REFERENCE = join(import.meta.dirname, '..', '..', 'docs', 'reference');

test.each(Object.entries(referencePages()))(
  'docs/reference/%s says what the code does (npm run docs)',
  (name, text) => {
    expect(readFileSync(join(REFERENCE, name), 'utf8')).toBe(text);
  },
);

test('every command has an example in its help', () => {
  const { 'cli.md': commands = '' } = referencePages();
  const sections = commands.split('\n## ').slice(1);
  expect(sections.length).toBeGreaterThan(10);
  expect(sections.filter((section) => !section.includes('Examples:')).map((section) => section.split('\n')[0])).toEqual(
    [],
  );
});

test('every error ends with an exit code that is explained', () => {
  const { 'errors.md': errors = '', 'exit-codes.md': exits = '' } = referencePages();
  const codes = [...errors.matchAll(/^\| (`\w+`)/gm)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(40);
  expect(codes.filter((code) => code !== undefined && !exits.includes(code))).toEqual([]);
});
