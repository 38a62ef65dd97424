/** How many may be under way at once. Whoever has some already gets another only while enough is left for the others. */
import { portcullisError } from '../schemas/errors.ts';

/**
 * Of `total` places a holder that has none gets any that is free; the more of its `perHolder` it has, the fewer the others may
 * have for it to get another. So few holders cannot take what all share, and one that is alone gets all of its own.
 *
 * @example const leave = new Places(32, 4).take('local/c1')
 */
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
    const tooMany = (this.#all - own) * this.#perHolder >= this.#total * (this.#perHolder - own);
    if (tooMany || this.#all >= this.#total) throw portcullisError('rate_limited');
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
