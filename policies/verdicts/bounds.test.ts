import { expect, test } from 'vitest';
import { MESSAGE_BOUNDS, breachOfBounds } from './bounds.ts';

const { bytes, lines, markers, markerColumn } = MESSAGE_BOUNDS;

test.each<[string, string, string | null]>([
  ['as many bytes as may be', 'x'.repeat(bytes), null],
  ['one byte more', 'x'.repeat(bytes + 1), 'message_too_large'],
  ['too many bytes in UTF-8 only', 'é'.repeat(bytes / 2 + 1), 'message_too_large'],
  ['something huge', 'x'.repeat(20_000_000), 'message_too_large'],
  ['as many lines as may be', '\n'.repeat(lines - 1), null],
  ['one line more', '\n'.repeat(lines), 'message_too_large'],
  ['one line more, ended by CR', '\r'.repeat(lines), 'message_too_large'],
  ['as many lines as may be, ended by CRLF', '\r\n'.repeat(lines - 1), null],
  ['quotes within the column', '>'.repeat(markerColumn), null],
  ['quotes past the column', '>'.repeat(markerColumn + 2), 'message_too_nested'],
  ['lists in one line past the column', '1. '.repeat(40), 'message_too_nested'],
  ['a list item indented past the column', `${' '.repeat(markerColumn + 1)}- a`, 'message_too_nested'],
  ['a list item indented past the column by tabs', `${'\t'.repeat(21)}- a`, 'message_too_nested'],
  ['text indented past the column', `${' '.repeat(200)}a - b > c`, null],
  ['a long rule of dashes', '- '.repeat(200), null],
  ['a long rule of stars', ` ${'*'.repeat(200)}`, null],
  ['dashes that end as a list', `${'- '.repeat(200)}a`, 'message_too_nested'],
  ['markers all over', '> - 1. + * a\n'.repeat(markers / 5 + 1), 'message_too_nested'],
  ['a long list', '- a\n'.repeat(lines - 1), null],
])('%s', (_, message, reason) => expect(breachOfBounds(message)?.reason ?? null).toBe(reason));

test('a breach names the line to look at', () => {
  expect(breachOfBounds(`a\n\n${'>'.repeat(100)}`)?.detail).toContain('Line 3 ');
});
