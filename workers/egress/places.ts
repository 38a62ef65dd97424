/** How many requests may be under way: in all, and of one pair. */
import { portcullisError } from '../../schemas/errors.ts';

export class Places {
  readonly #total: number;
  readonly #perHolder: number;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(total: number, perHolder: number) {
    this.#total = total;
    this.#perHolder = perHolder;
  }

  /** Takes a place; call the answer once to leave it. @throws `rate_limited` */
  take(holder: string): () => void {
    const own = this.#taken.get(holder) ?? 0;
    if (own >= this.#perHolder || this.#all >= this.#total) throw portcullisError('rate_limited');
    this.#taken.set(holder, own + 1);
    this.#all += 1;
    return () => {
      this.#all -= 1;
      const left = (this.#taken.get(holder) ?? 1) - 1;
      if (left <= 0) this.#taken.delete(holder);
      else this.#taken.set(holder, left);
    };
  }
}
