/** What the start of a workspace came to so far: kept for whoever watches later, and told to whoever watches now. */
import { randomUUID } from 'node:crypto';
import type { Lifecycle, WatchEvent } from './protocol.ts';

/** Older lines fall off: a start that loops must not fill the memory. */
const MOST_EVENTS = 1_000;

export class StartRecord {
  readonly #boot: WatchEvent = { event: 'boot', boot: randomUUID() };
  readonly #events: WatchEvent[] = [];
  readonly #watchers = new Set<(event: WatchEvent) => void>();
  #count = 0;

  lifecycle(state: Lifecycle): void {
    this.#add({ event: 'lifecycle', n: this.#next(), state });
  }

  log(text: string, level: 'info' | 'error' = 'info'): void {
    this.#add({ event: 'log', n: this.#next(), level, text: text.slice(0, 2_000) });
  }

  /** Everything so far, then everything to come; call the answer to stop. */
  watch(watcher: (event: WatchEvent) => void): () => void {
    watcher(this.#boot);
    for (const event of this.#events) watcher(event);
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }

  #add(event: WatchEvent): void {
    this.#events.push(event);
    if (this.#events.length > MOST_EVENTS) this.#events.shift();
    for (const watcher of this.#watchers) watcher(event);
  }
}
