/** A hit: one thing that keeps a subject from passing. */
import type { ReasonCode } from './reasons.ts';

export interface Hit {
  readonly code: ReasonCode;
  readonly ref: string;
  /**
   * When the newest evidence behind it was observed; an override covers only what was there when the person decided.
   * Counted from evidence against the subject alone, so that taking evidence for it away cannot make a hit older.
   */
  readonly at: number;
  /** The failure that this contradiction is about: whoever overrides that failure accepts the contradiction with it. */
  readonly about?: { readonly code: ReasonCode; readonly ref: string };
}

export function hitKey(hit: { readonly code: ReasonCode; readonly ref: string }): string {
  return `${hit.code} ${hit.ref}`;
}
