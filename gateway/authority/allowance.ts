/** Token buckets: what one credential may spend of this replica's time and bytes. */
import { portcullisError } from '../../schemas/errors.ts';

export interface AllowanceRate {
  /** Units given back in a second. */
  readonly perSecond: number;
  /** Units that can be saved up. */
  readonly burst: number;
}

interface Bucket {
  level: number;
  /** Local monotonic milliseconds. */
  at: number;
}

const MAX_BUCKETS = 10_000;

/** One kind of allowance for many holders; memory is bounded, the longest idle holder is forgotten first. */
export class Allowance {
  readonly #rate: AllowanceRate;
  readonly #monotonic: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: AllowanceRate, monotonic: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#monotonic = monotonic;
  }

  /** Spends `units`. @throws `rate_limited`, and then nothing is spent */
  spend(holder: string, units: number): void {
    const now = this.#monotonic();
    const { level, at } = this.#buckets.get(holder) ?? { level: this.#rate.burst, at: now };
    const filled = Math.min(this.#rate.burst, level + ((now - at) / 1000) * this.#rate.perSecond);
    if (filled < units) throw portcullisError('rate_limited');
    // Set again at the end, so that the map stays in order of use.
    this.#buckets.delete(holder);
    this.#buckets.set(holder, { level: filled - units, at: now });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_BUCKETS && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
