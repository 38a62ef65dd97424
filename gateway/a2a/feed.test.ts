import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { portcullisError } from '../../schemas/errors.ts';
import type { NumberedTaskEvent, TaskEvent, TaskSnapshot } from '../../schemas/verify/task.ts';
import { TaskFeed, type FeedSource } from './feed.ts';

const FAST = { eagerMs: 1, idleMs: 2, patienceMs: 200 };
const output = (chunk: number): TaskEvent => ({ type: 'output', stream: 'stdout', chunk, bytes: 1 });
const END: TaskEvent = { type: 'status', state: 'completed', phase: 'ended', detail: '', outcome: 'completed' };

/** A log in memory that counts its reads, and can be away or slow. */
class Log implements FeedSource {
  readonly events: NumberedTaskEvent[] = [];
  reads = 0;
  away = false;
  readMs = 0;
  snapshot: Pick<TaskSnapshot, 'state' | 'seq'> | null = { state: 'working', seq: 0 };

  append(...events: readonly TaskEvent[]): void {
    for (const event of events) this.events.push({ seq: this.events.length + 1, at: 0, event });
  }

  async readEvents(_tenant: string, _task: string, after: number, limit: number) {
    this.reads += 1;
    await delay(this.readMs);
    if (this.away) throw portcullisError('store_unavailable', { reason: 'test' });
    return this.events.filter(({ seq }) => seq > after).slice(0, limit);
  }

  readTask() {
    return Promise.resolve(this.snapshot);
  }
}

async function numbers(feed: TaskFeed, after = 0, pauseMs = 0, signal = new AbortController().signal) {
  const seen: number[] = [];
  for await (const { seq } of feed.events('t', 'task', after, signal)) {
    seen.push(seq);
    if (pauseMs > 0) await delay(pauseMs);
  }
  return seen;
}

const upTo = (n: number, from = 1) => Array.from({ length: n - from + 1 }, (_, index) => from + index);

describe('the feed', () => {
  test('gives what was before and what comes, and ends with the task', async () => {
    const log = new Log();
    log.append(output(0), output(1));
    const reading = numbers(new TaskFeed(log, FAST));
    await delay(10);
    log.append(output(2), END, output(3));
    expect(await reading).toEqual(upTo(4));
  });

  test('begins behind a number', async () => {
    const log = new Log();
    log.append(output(0), output(1), END);
    expect(await numbers(new TaskFeed(log, FAST), 2)).toEqual([3]);
  });

  test('a subscriber that handles each event longer than the reader lingers still gets the last one', async () => {
    const log = new Log();
    log.append(output(0));
    const feed = new TaskFeed(log, FAST);
    const slow = numbers(feed, 0, 60);
    const quick = numbers(feed);
    for (const chunk of upTo(6)) {
      await delay(20);
      log.append(output(chunk));
    }
    log.append(END);
    expect(await quick).toEqual(upTo(8));
    expect(await slow).toEqual(upTo(8));
  });

  // A tail once ended between its last look and a subscriber that came back during that look, and left it waiting for ever.
  test('a subscriber that comes back at any moment of the reader’s last looks is served', async () => {
    const all = Array.from({ length: 60 }, async (_, n) => {
      const log = new Log();
      log.readMs = 10;
      setTimeout(() => log.append(output(0)), 30);
      setTimeout(() => log.append(END), 600);
      const reading = numbers(new TaskFeed(log, FAST), 0, 60 + n * 4);
      expect(await reading).toEqual([1, 2]);
    });
    await Promise.all(all);
  });

  test('one reader serves a hundred subscribers that are up to date', async () => {
    const log = new Log();
    const feed = new TaskFeed(log, FAST);
    const all = upTo(100).map(() => numbers(feed));
    await delay(20);
    const before = log.reads;
    await delay(50);
    expect(feed.size).toBe(1);
    expect(log.reads - before).toBeLessThan(60);
    log.append(END);
    expect(new Set((await Promise.all(all)).map(String))).toEqual(new Set(['1']));
  });

  test('a thousand that come back at once, each elsewhere in the past, share a few reads and miss nothing', async () => {
    const log = new Log();
    log.append(...upTo(999).map(output), END);
    const feed = new TaskFeed(log, FAST);
    const all = await Promise.all(upTo(1000).map((after) => numbers(feed, after - 1)));
    expect(all).toEqual(upTo(1000).map((from) => upTo(1000, from)));
    expect(log.reads).toBeLessThan(10);
  });

  test('an event that comes while the same past is read for another is not missed', async () => {
    const log = new Log();
    log.append(output(0));
    log.readMs = 5;
    const feed = new TaskFeed(log, FAST);
    const first = numbers(feed);
    await delay(2);
    log.append(output(1));
    const second = numbers(feed, 1);
    await delay(20);
    log.append(END);
    expect(await Promise.all([first, second])).toEqual([upTo(3), [2, 3]]);
  });

  test('lets go of a task that nobody watches any more', async () => {
    const log = new Log();
    const feed = new TaskFeed(log, FAST);
    const leaving = new AbortController();
    const reading = numbers(feed, 0, 0, leaving.signal);
    await delay(10);
    leaving.abort();
    expect(await reading).toEqual([]);
    const deadline = Date.now() + 2_000;
    while (feed.size > 0 && Date.now() < deadline) await delay(5);
    expect(feed.size).toBe(0);
  });

  test('[inv-18] a short absence of the store loses nothing; a long one is told', async () => {
    const log = new Log();
    const feed = new TaskFeed(log, FAST);
    const reading = numbers(feed);
    await delay(10);
    log.away = true;
    await delay(30);
    log.append(output(0), END);
    log.away = false;
    expect(await reading).toEqual([1, 2]);

    const other = new Log();
    const failing = numbers(new TaskFeed(other, FAST));
    await delay(10);
    other.away = true;
    await expect(failing).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  test('ends when the snapshot has ended and its event is not in the log', async () => {
    const log = new Log();
    log.snapshot = { state: 'completed', seq: 0 };
    expect(await numbers(new TaskFeed(log, FAST))).toEqual([]);
  });
});
