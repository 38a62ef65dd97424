import { expect, it } from 'vitest';
import { KeyScrubber } from './key-scrubber.ts';

const KEY = 'sk-test-0123456789-abcdefgh';

function passed(parts: readonly string[], key: string | null = KEY): string {
  const scrubber = new KeyScrubber(key);
  return parts.map((part) => scrubber.push(Buffer.from(part)).toString()).join('') + scrubber.end().toString();
}

it('[inv-15] a key is stars of the same length, wherever an answer is cut', () => {
  const text = `you sent ${KEY}, and again ${KEY}${KEY}.`;
  const clean = text.replaceAll(KEY, '*'.repeat(KEY.length));
  for (let at = 0; at <= text.length; at += 1) expect(passed([text.slice(0, at), text.slice(at)])).toBe(clean);
  expect(passed(Array.from(text, (one) => one))).toBe(clean);
});

it('[inv-15] in base64 as well, wherever it begins', () => {
  for (const before of ['', 'a', 'ab', 'abc']) {
    const encoded = Buffer.from(`${before}${KEY}!`).toString('base64');
    const clean = passed([encoded]);
    expect(clean).toHaveLength(encoded.length);
    expect(Buffer.from(clean.replaceAll('*', 'A'), 'base64').toString('latin1')).not.toContain(KEY.slice(3, 12));
  }
});

it('what cannot become the key is not held back', () => {
  const scrubber = new KeyScrubber(KEY);
  expect(scrubber.push(Buffer.from('data: {"a":1}\n\n')).toString()).toBe('data: {"a":1}\n\n');
  expect(scrubber.push(Buffer.from('so sk-')).toString()).toBe('so ');
  expect(scrubber.push(Buffer.from('ate')).toString()).toBe('sk-ate');
  expect(passed(['a', 'b'], null)).toBe('ab');
});
