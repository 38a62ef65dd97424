/**
 * Watches whether the store answers. When a replica starts, and each time its store comes back, absence proves nothing for a
 * while: `beginSettling` says so before anyone can read it as an answer.
 */
import type { Logger } from 'pino';
import type { GatewayStore } from '../../activities/store/port.ts';

const PROBE_MS = 500;
const PROBE_AWAY_MS = 100;

export interface StoreWatchTarget {
  readonly store: Pick<GatewayStore, 'now' | 'beginSettling'>;
  readonly tenants: readonly string[];
  readonly logger: Logger;
}

export class StoreWatch {
  readonly #target: StoreWatchTarget;
  readonly #listeners = new Set<(answers: boolean) => void>();
  #answers = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(target: StoreWatchTarget) {
    this.#target = target;
  }

  /** True while the last probe was answered. */
  get answers(): boolean {
    return this.#answers;
  }

  /** Calls back at each change. Returns how to stop. */
  onChange(listener: (answers: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Probes once, then goes on by itself. Never rejects: a store that is away at the start is waited for. */
  async start(): Promise<void> {
    await this.#probe();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  async #probe(): Promise<void> {
    const answers = await this.#ask();
    if (this.#closed) return;
    if (answers !== this.#answers) {
      this.#answers = answers;
      this.#target.logger.warn({ answers }, answers ? 'the store answers' : 'the store is away');
      for (const listener of this.#listeners) listener(answers);
    }
    this.#timer = setTimeout(() => void this.#probe(), answers ? PROBE_MS : PROBE_AWAY_MS);
    this.#timer.unref();
  }

  /** Settling is part of answering: until it is written, the store counts as away. */
  async #ask(): Promise<boolean> {
    try {
      await this.#target.store.now();
      if (!this.#answers)
        await Promise.all(this.#target.tenants.map((tenant) => this.#target.store.beginSettling(tenant)));
      return true;
    } catch {
      return false;
    }
  }
}
