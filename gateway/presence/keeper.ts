/**
 * Presence of executors, as this replica sees it: a lease in the store for each seat that holds a poll here or was heard
 * from, dropped the moment its connection is (DESIGN section 2, Presence). The server itself lists a dead poller for minutes.
 */
import type { Logger } from 'pino';
import type { GatewayStore } from '../../activities/store/port.ts';
import { executorQueue, type Seat } from '../../schemas/queues.ts';

type PresenceStore = Pick<GatewayStore, 'holdPresence' | 'dropPresence'>;

/** How often a lease is renewed. It lives 5 s: one renewal may fail. */
export const RENEW_MS = 2_000;

interface Held {
  readonly seat: Seat;
  readonly connection: string;
  parkedPolls: number;
  /** What the lease says, and when it was last written (local monotonic milliseconds). */
  state: 'idle' | 'busy';
  renewedAt: number;
}

export class PresenceKeeper {
  readonly #store: PresenceStore;
  readonly #replica: string;
  readonly #logger: Logger;
  /** By connection and queue: one connection serves one seat, and nothing but its bearer says so. */
  readonly #held = new Map<string, Held>();
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor(store: PresenceStore, replica: string, logger: Logger) {
    this.#store = store;
    this.#replica = replica;
    this.#logger = logger;
    this.#timer = setInterval(() => this.#renew(), RENEW_MS / 4);
    this.#timer.unref();
  }

  /** A poll is parked: somebody is there and free. Call what comes back when it is parked no longer. */
  parked(seat: Seat, connection: string): () => void {
    const held = this.#entry(seat, connection);
    held.parkedPolls += 1;
    if (held.parkedPolls === 1) this.#hold(held, 'idle');
    let released = false;
    return () => {
      if (!released) held.parkedPolls -= 1;
      released = true;
    };
  }

  /** A task was handed out, or a heartbeat came: somebody is there and at work, unless a poll is parked as well. */
  atWork(seat: Seat, connection: string): void {
    const held = this.#entry(seat, connection);
    const state = held.parkedPolls > 0 ? 'idle' : 'busy';
    if (held.state !== state || this.#due(held)) this.#hold(held, state);
  }

  /** The executor said that it stops: absent at once, not when its connection goes. */
  async stopped(seat: Seat, connection: string): Promise<void> {
    await this.#drop(this.#entry(seat, connection));
  }

  /** The connection is gone, and with it whoever was at the other end. */
  async dropped(connection: string): Promise<void> {
    if (this.#closed) return;
    const gone = [...this.#held.values()].filter((held) => held.connection === connection);
    await Promise.all(gone.map((held) => this.#drop(held)));
  }

  /** Writes every lease again: the store may have lost them. */
  restore(): void {
    for (const held of this.#held.values()) if (held.parkedPolls > 0) this.#hold(held, 'idle');
  }

  /** Stops renewing. Leases are left to run out: whoever is there comes to another replica within their life. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  #entry(seat: Seat, connection: string): Held {
    const key = `${connection} ${executorQueue(seat)}`;
    const known = this.#held.get(key);
    if (known !== undefined) return known;
    const made: Held = { seat, connection, parkedPolls: 0, state: 'idle', renewedAt: Number.NEGATIVE_INFINITY };
    this.#held.set(key, made);
    return made;
  }

  #due(held: Held): boolean {
    return performance.now() - held.renewedAt >= RENEW_MS;
  }

  #renew(): void {
    for (const held of this.#held.values()) if (held.parkedPolls > 0 && this.#due(held)) this.#hold(held, 'idle');
  }

  #hold(held: Held, state: 'idle' | 'busy'): void {
    if (this.#closed) return;
    held.state = state;
    held.renewedAt = performance.now();
    this.#store.holdPresence(held.seat, state, this.#holder(held.connection)).catch((thrown: unknown) => {
      // The next renewal is soon; meanwhile the lease may lapse, which reads as unknown first.
      held.renewedAt = Number.NEGATIVE_INFINITY;
      this.#logger.warn({ err: thrown, queue: executorQueue(held.seat) }, 'presence could not be renewed');
    });
  }

  async #drop(held: Held): Promise<void> {
    const queue = executorQueue(held.seat);
    this.#held.delete(`${held.connection} ${queue}`);
    try {
      await this.#store.dropPresence(held.seat, this.#holder(held.connection));
      this.#logger.info({ queue }, 'an executor is gone');
    } catch (thrown) {
      this.#logger.warn({ err: thrown, queue }, 'presence could not be dropped; its lease runs out');
    }
    // The same executor may have come again on another connection before this one was seen to be gone.
    for (const other of this.#held.values()) {
      if (other.parkedPolls > 0 && executorQueue(other.seat) === queue) this.#hold(other, 'idle');
    }
  }

  #holder(connection: string): string {
    return `${this.#replica}/${connection}`;
  }
}
