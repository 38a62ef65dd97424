import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { portcullisError } from '../../schemas/errors.ts';
import type { Seat } from '../../schemas/queues.ts';
import { PresenceKeeper, RENEW_MS } from './keeper.ts';

const seat: Seat = { tenant: 'local', pair: 'T-1', role: 'forge', workspaceGeneration: 1 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function keeper() {
  const said: string[] = [];
  const store = { away: false };
  const answer = (what: string) => {
    if (store.away) return Promise.reject(portcullisError('store_unavailable', { reason: 'test' }));
    said.push(what);
    return Promise.resolve();
  };
  const made = new PresenceKeeper(
    {
      holdPresence: (_, state, holder) => answer(`${state} ${holder}`),
      dropPresence: (_, holder) => answer(`drop ${holder}`),
    },
    'r1',
    pino({ level: 'silent' }),
  );
  return { made, said, store };
}

describe('presence', () => {
  test('is renewed while a poll is parked, and no longer', () => {
    const { made, said } = keeper();
    const release = made.parked(seat, 'c1');
    expect(said).toEqual(['idle r1/c1']);
    vi.advanceTimersByTime(RENEW_MS * 2);
    expect(said).toEqual(['idle r1/c1', 'idle r1/c1', 'idle r1/c1']);
    release();
    release();
    vi.advanceTimersByTime(RENEW_MS * 5);
    expect(said).toHaveLength(3);
  });

  test('is busy from the task on, and idle again with the next poll', () => {
    const { made, said } = keeper();
    made.parked(seat, 'c1')();
    made.atWork(seat, 'c1');
    made.atWork(seat, 'c1');
    vi.advanceTimersByTime(RENEW_MS);
    made.atWork(seat, 'c1');
    made.parked(seat, 'c1');
    expect(said).toEqual(['idle r1/c1', 'busy r1/c1', 'busy r1/c1', 'idle r1/c1']);
  });

  test('goes with its connection, unless the same seat is there on another', async () => {
    const { made, said } = keeper();
    made.parked(seat, 'c1');
    await made.dropped('c1');
    vi.advanceTimersByTime(RENEW_MS * 2);
    expect(said).toEqual(['idle r1/c1', 'drop r1/c1']);
    made.parked(seat, 'c2');
    made.parked(seat, 'c3');
    await made.dropped('c2');
    expect(said.slice(2)).toEqual(['idle r1/c2', 'idle r1/c3', 'drop r1/c2', 'idle r1/c3']);
  });

  test('that could not be written is written at the next look, and all of it when the store is back', async () => {
    const { made, said, store } = keeper();
    store.away = true;
    made.parked(seat, 'c1');
    await Promise.resolve();
    store.away = false;
    vi.advanceTimersByTime(RENEW_MS / 4);
    expect(said).toEqual(['idle r1/c1']);
    made.restore();
    expect(said).toHaveLength(2);
    made.close();
    vi.advanceTimersByTime(RENEW_MS * 4);
    expect(said).toHaveLength(2);
  });
});
