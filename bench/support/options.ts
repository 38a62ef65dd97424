/** What can be set on the command line of the benchmarks; each bench reads what it knows. */
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Example tickets of the `ticket` bench that are measured, after one to warm up. */
  readonly rounds: number;
  /** Tickets of the `tickets` bench. */
  readonly tickets: number;
  /** Minutes that those may take in all; what has not ended then counts as failed. */
  readonly minutes: number;
  /** Tickets of the `ticket` bench that wait for a slot. */
  readonly waiting: number;
}

const DEFAULTS: BenchOptions = { rounds: 3, tickets: 100, minutes: 25, waiting: 1_000 };

/** @throws `Error` that says which option is wrong */
export function readOptions(words: readonly string[]): {
  readonly names: readonly string[];
  readonly options: BenchOptions;
} {
  const { positionals, values } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      tickets: { type: 'string' },
      minutes: { type: 'string' },
      waiting: { type: 'string' },
    },
  });
  const count = (name: keyof BenchOptions) => {
    const text = values[name];
    if (text === undefined) return DEFAULTS[name];
    if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
    throw new Error(`--${name} takes a whole number above 0, not ${text}`);
  };
  return {
    names: positionals,
    options: {
      rounds: count('rounds'),
      tickets: count('tickets'),
      minutes: count('minutes'),
      waiting: count('waiting'),
    },
  };
}
