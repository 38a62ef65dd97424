import { expect, test } from 'vitest';
import { printable } from './printable.ts';

test.each([
  ['plain, \u00fcml\u00e4ut \u{1f600}', 'plain, \u00fcml\u00e4ut \u{1f600}'],
  ['\u001b[2J\u001b]0;title\u0007', '\ufffd[2J\ufffd]0;title\ufffd'],
  ['a\r\nb\tc', 'a\ufffd\ufffdb\ufffdc'],
  ['\u009b31m', '\ufffd31m'],
  ['\u202eevil\u2066', '\ufffdevil\ufffd'],
  ['a\u2028b\ud800', 'a\ufffdb\ufffd'],
])('%j is printed as %j', (text, printed) => {
  expect(printable(text)).toBe(printed);
});
