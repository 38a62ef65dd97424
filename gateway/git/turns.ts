/** One at a time for each name, in the order in which they came. */
import { portcullisError } from '../../schemas/errors.ts';

export class Turns {
  readonly #maxWaiting: number;
  readonly #present = new Map<string, number>();
  readonly #last = new Map<string, Promise<unknown>>();

  /** How many may wait behind the one whose turn it is. */
  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** Does the work once everybody before has done theirs, however it ended. @throws `rate_limited` when too many wait */
  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const present = this.#present.get(name) ?? 0;
    if (present > this.#maxWaiting) throw portcullisError('rate_limited');
    this.#present.set(name, present + 1);
    const turn = (this.#last.get(name) ?? Promise.resolve()).then(work);
    this.#last.set(
      name,
      turn.catch(() => {}),
    );
    try {
      return await turn;
    } finally {
      const left = (this.#present.get(name) ?? 1) - 1;
      if (left > 0) this.#present.set(name, left);
      else {
        this.#present.delete(name);
        this.#last.delete(name);
      }
    }
  }
}
