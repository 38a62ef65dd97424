import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DECISION_PAGE, hostileTable, REASONS_PAGE, reasonsPage } from './gate-reference.ts';

/** Tables as they are after the formatter padded their cells. */
const squeezed = (text: string) =>
  text
    .replace(/ +/g, ' ')
    .replace(/-{3,}/g, '---')
    .replace(/\| ---/g, '|---')
    .replace(/--- \|/g, '---|');

test('the reference of reasons is what scripts/gate-reference.ts writes', () => {
  expect(squeezed(readFileSync(REASONS_PAGE, 'utf8'))).toBe(squeezed(reasonsPage()));
});

test('the page on decisions lists the hostile cases that need processes', () => {
  expect(squeezed(readFileSync(DECISION_PAGE, 'utf8'))).toContain(squeezed(hostileTable()));
});
