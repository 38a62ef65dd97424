/** What was allowed at its beginning may not be any more while it goes on: its credential revoked, its ticket ended, all stopped. */
import { asPortcullisError } from '../../schemas/errors.ts';

export interface WhileAllowed {
  /** Aborts once it is not allowed any more. That it cannot be read changes nothing. */
  readonly signal: AbortSignal;
  /** Looks no more. */
  end(): void;
}

/** @param look rejects with what it would be refused by now */
export function whileAllowed(look: () => Promise<unknown>, everyMs: number): WhileAllowed {
  const cut = new AbortController();
  const looking = setInterval(() => {
    look().catch((thrown: unknown) => {
      if (asPortcullisError(thrown).edge.http < 500) cut.abort();
    });
  }, everyMs);
  return { signal: cut.signal, end: () => clearInterval(looking) };
}
