import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { gathered } from '../../../workers/agent/progress.ts';
import { Progress } from './progress.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('lines that come together are one message, and the last come with the end', () => {
  const said: string[] = [];
  const progress = new Progress((text) => said.push(text));
  for (const line of ['one', 'two']) progress.add(line);
  vi.advanceTimersByTime(1_000);
  progress.add('three');
  progress.flush();
  expect(said).toEqual(['one\ntwo', 'three']);
});

test('[inv-19] a turn that never stops talking for hours keeps a few megabytes, and is heard every minute', () => {
  const said: string[] = [];
  const progress = new Progress((text) => said.push(text));
  const seconds = 6 * 3_600;
  let longest = 0;
  let silent = 0;
  for (let second = 0; second < seconds; second += 1) {
    const before = said.length;
    progress.add('x'.repeat(16 * 1024));
    vi.advanceTimersByTime(1_000);
    silent = said.length > before ? 0 : silent + 1;
    longest = Math.max(longest, silent);
  }
  expect(said.length).toBeLessThan(500);
  expect(said.join('').length).toBeLessThan(2 * 1024 * 1024);
  expect(longest).toBeLessThan(61);
});

test('[inv-19] the harness tells a flood as a few lines a second, the last of it whole', () => {
  const said: string[] = [];
  const progress = gathered((text) => said.push(text));
  for (let n = 0; n < 100_000; n += 1) progress.add(`line ${n}`);
  vi.advanceTimersByTime(200);
  expect(said).toHaveLength(1);
  expect(said[0]?.endsWith('line 99998\nline 99999')).toBe(true);
  expect(said[0]?.length).toBeLessThanOrEqual(16 * 1024);
  progress.add('end');
  progress.close();
  expect(said.at(-1)).toBe('end');
});
