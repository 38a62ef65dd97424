/** How many may run at once: in all, and of one holder. */
import { portcullisError } from '../../schemas/errors.ts';

export class Slots {
  readonly #total: number;
  readonly #perHolder: number;
  readonly #taken = new Map<string, number>();

  constructor(total: number, perHolder: number) {
    this.#total = total;
    this.#perHolder = perHolder;
  }

  /** Takes a slot; call the answer once to leave it. @throws `rate_limited` */
  take(holder: string): () => void {
    const own = this.#taken.get(holder) ?? 0;
    const all = [...this.#taken.values()].reduce((sum, count) => sum + count, 0);
    if (own >= this.#perHolder || all >= this.#total) throw portcullisError('rate_limited');
    this.#taken.set(holder, own + 1);
    return () => {
      const left = (this.#taken.get(holder) ?? 1) - 1;
      if (left <= 0) this.#taken.delete(holder);
      else this.#taken.set(holder, left);
    };
  }
}
