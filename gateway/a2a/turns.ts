/**
 * One at a time for each name. Requests of one pair are numbered one after the other in the store; those that come to this
 * replica at once wait for each other here, instead of each spoiling the others' claim. Only speed depends on it: other
 * replicas take no turns here, and the store rules on every claim.
 */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` after everything that came before it under this name, however that ended. */
  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const { promise: mine, resolve: done } = Promise.withResolvers<undefined>();
    const tail = mine.then(() => {});
    this.#last.set(name, tail);
    try {
      await before;
      return await work();
    } finally {
      done(undefined);
      if (this.#last.get(name) === tail) this.#last.delete(name);
    }
  }

  /** Names that somebody works under or waits for. */
  get size(): number {
    return this.#last.size;
  }
}
