import { describe, expect, test } from 'vitest';
import { expiryOf } from './decide.ts';

const NOW = Date.UTC(2026, 11, 1, 12);

describe('--expires', () => {
  test.each([
    ['90m', 90 * 60_000],
    ['12h', 12 * 3_600_000],
    ['7d', 7 * 86_400_000],
    ['2026-12-01T13:00:00Z', 3_600_000],
    ['2026-12-01T14:00:00+01:00', 3_600_000],
  ])('%s is %i ms from now', (text, ms) => {
    expect(expiryOf(text, NOW)).toBe(NOW + ms);
  });

  test.each([
    '0m',
    '12',
    'soon',
    '2026-12-01T11:00:00Z',
    '2026-12-01T12:00:00Z',
    '2026-12-02T12:00:00',
    '2026-12-02',
    '',
  ])('[inv-19] %s is refused', (text) => {
    expect(() => expiryOf(text, NOW)).toThrow(expect.objectContaining({ code: 'usage' }) as Error);
  });
});
