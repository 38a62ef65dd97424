/**
 * Events of tasks as they are appended, for any number of subscribers: one reader of the store for each task that somebody
 * watches. A subscriber that has fallen behind reads the store for itself; nobody waits for anybody.
 */
import { asPortcullisError } from '../../schemas/errors.ts';
import { isTerminalTaskState, type NumberedTaskEvent, type TaskSnapshot } from '../../schemas/verify/task.ts';
import type { StoreReader } from '../../activities/store/port.ts';
import { PastEvents } from './past-events.ts';

/** What is read of the store. */
export interface FeedSource extends Pick<StoreReader, 'readEvents'> {
  readTask(tenant: string, task: string): Promise<Pick<TaskSnapshot, 'state' | 'seq'> | null>;
}

export interface FeedSettings {
  /** Milliseconds between two looks at a task whose events come, and at one that is quiet. */
  readonly eagerMs: number;
  readonly idleMs: number;
  /** How long the store may be away before its subscribers are cut. */
  readonly patienceMs: number;
}

export const FEED_SETTINGS: FeedSettings = { eagerMs: 20, idleMs: 30, patienceMs: 60_000 };

/** Events read at once, and kept for subscribers that are up to date. */
const BATCH = 256;
const KEPT = 1024;
/** Looks between two readings of the snapshot, which alone tells of an end whose event fell out of the log. */
const LOOKS_PER_SNAPSHOT = 50;
const LONELY_LOOKS = 10;

export class TaskFeed {
  readonly #store: FeedSource;
  readonly #settings: FeedSettings;
  readonly #tails = new Map<string, Tail>();
  readonly #past: PastEvents;

  constructor(store: FeedSource, settings: FeedSettings = FEED_SETTINGS) {
    this.#store = store;
    this.#past = new PastEvents(store);
    this.#settings = settings;
  }

  /** Tasks that are watched now. */
  get size(): number {
    return this.#tails.size;
  }

  /**
   * Every event after `afterSeq`, then each that comes, ending after the one that ends the task. Returns silently when
   * `signal` aborts. @throws `store_unavailable` when the store stays away for longer than a minute.
   */
  async *events(
    tenant: string,
    task: string,
    afterSeq: number,
    signal: AbortSignal,
  ): AsyncGenerator<NumberedTaskEvent, void, undefined> {
    // Asked anew each time: between two events a subscriber may take as long as it likes.
    const gone = () => signal.aborted;
    let after = afterSeq;
    while (!gone()) {
      const batch = await this.#next(tenant, task, after, signal);
      if (batch === 'ended') return;
      for (const numbered of batch) {
        if (gone()) return;
        after = numbered.seq;
        yield numbered;
        if (numbered.event.type === 'status' && isTerminalTaskState(numbered.event.state)) return;
      }
    }
  }

  /** Waits for the end of a task, or until `signal` aborts. @throws as {@link events} */
  async untilEnded(tenant: string, task: string, afterSeq: number, signal: AbortSignal): Promise<void> {
    const events = this.events(tenant, task, afterSeq, signal);
    while ((await events.next()).done !== true);
  }

  async #next(tenant: string, task: string, after: number, signal: AbortSignal): Promise<Batch> {
    const key = `${tenant}/${task}`;
    const known = this.#tails.get(key);
    const kept = known?.after(after);
    if (kept !== undefined) return kept;
    const past = await this.#read(tenant, task, after, signal);
    if (past.length > 0 || signal.aborted) return past;
    let tail = this.#tails.get(key);
    if (tail === undefined) {
      tail = new Tail(after);
      this.#tails.set(key, tail);
      // Never rejects: how it ended is told to everybody who waits.
      void this.#follow(key, tenant, task, tail);
    }
    await tail.changed(after, signal);
    return tail.ending ?? [];
  }

  /** Looks until nobody has waited for a while: a subscriber that handles a batch comes back for the next. */
  async #follow(key: string, tenant: string, task: string, tail: Tail): Promise<void> {
    let pause = this.#settings.eagerMs;
    let looks = 0;
    let failingSince: number | null = null;
    let lonely = 0;
    // Whether somebody waits is asked last: nothing may come between that answer and the end of this tail.
    while ((tail.waiting || lonely < LONELY_LOOKS) && tail.ending === null && !tail.failed) {
      lonely = tail.waiting ? 0 : lonely + 1;
      try {
        const found = await this.#store.readEvents(tenant, task, tail.seq, BATCH);
        failingSince = null;
        tail.append(found);
        looks = found.length > 0 ? 0 : looks + 1;
        if (looks >= LOOKS_PER_SNAPSHOT) {
          looks = 0;
          const snapshot = await this.#store.readTask(tenant, task);
          const over = snapshot === null || (isTerminalTaskState(snapshot.state) && snapshot.seq <= tail.seq);
          if (over) tail.end();
        }
        // The more tasks are watched, the rarer each is looked at: the store serves others too.
        const idle = Math.min(1000, this.#settings.idleMs * Math.max(1, this.#tails.size / 50));
        pause = found.length > 0 ? this.#settings.eagerMs : Math.min(idle, pause * 1.5);
      } catch (thrown) {
        failingSince ??= performance.now();
        if (performance.now() - failingSince > this.#settings.patienceMs) tail.fail(asPortcullisError(thrown));
        pause = Math.min(1000, pause * 2);
      }
      await elapsed(pause);
    }
    this.#tails.delete(key);
  }

  /** Reads past events, through a short absence of the store. */
  async #read(tenant: string, task: string, after: number, signal: AbortSignal) {
    const since = performance.now();
    for (let pause = 50; ; pause = Math.min(1000, pause * 2)) {
      try {
        return await this.#past.after(tenant, task, after);
      } catch (thrown) {
        if (signal.aborted) return [];
        if (performance.now() - since > this.#settings.patienceMs) throw thrown;
        await elapsed(pause);
      }
    }
  }
}

type Batch = readonly NumberedTaskEvent[] | 'ended';

/** Where the reader of one task stands, its newest events, and who waits for the next. */
class Tail {
  #seq: number;
  #kept: NumberedTaskEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #failure: Error | null = null;
  #ended = false;

  constructor(seq: number) {
    this.#seq = seq;
  }

  get seq(): number {
    return this.#seq;
  }

  get waiting(): boolean {
    return this.#waiting.size > 0;
  }

  get failed(): boolean {
    return this.#failure !== null;
  }

  get ending(): 'ended' | null {
    return this.#ended ? 'ended' : null;
  }

  /** Kept events after a number; `undefined` when they are not all here, or there are none. */
  after(seq: number): readonly NumberedTaskEvent[] | undefined {
    const [first] = this.#kept;
    if (first === undefined || first.seq > seq + 1 || this.#seq <= seq) return undefined;
    return this.#kept.filter((numbered) => numbered.seq > seq);
  }

  append(found: readonly NumberedTaskEvent[]): void {
    const last = found.at(-1);
    if (last === undefined) return;
    this.#seq = last.seq;
    this.#kept = [...this.#kept, ...found].slice(-KEPT);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#wake();
  }

  /** Resolves when there may be more after `seq`, or the signal aborts. @throws what the reader failed with */
  async changed(seq: number, signal: AbortSignal): Promise<void> {
    if (this.#seq <= seq && !this.#ended && this.#failure === null && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#waiting.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        this.#waiting.add(done);
        signal.addEventListener('abort', done);
      });
    }
    if (this.#failure !== null) throw this.#failure;
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    // Nothing is lost when a process ends while a feed waits.
    setTimeout(resolve, ms).unref();
  });
}
