import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText } from './canonical.ts';
import { shortened } from './text.ts';

test('[inv-19] whatever text is cut wherever, a record can hold it, and it is no longer than asked', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, most) => {
      const cut = shortened(text, most);
      expect(cut.length).toBeLessThanOrEqual(most);
      expect(() => canonicalText(cut)).not.toThrow();
      if (text.length <= most && text.isWellFormed()) expect(cut).toBe(text);
    }),
  );
});

test('a pair that the cut would halve is replaced, and so is half a pair that came in', () => {
  expect(shortened(`ab\u{1f600}`, 3)).toBe('ab\ufffd');
  expect(shortened(`a${String.fromCharCode(0xd83d)}b`, 9)).toBe('a\ufffdb');
});
