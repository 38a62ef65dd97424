/** What a ticket lands, and how far that is: its change, and what LORE made of it. Part of `TicketState`. */

export const CI_STATES = ['pass', 'fail', 'pending', 'timed_out', 'skipped', 'none'] as const;
/** Only `pass` lands. */
export type CiState = (typeof CI_STATES)[number];

export interface TicketPullRequest {
  readonly number: number;
  readonly url: string;
  readonly ci: CiState;
}

/** Written before the ref is moved: from then on only the answer of the landing changes the ticket. */
export interface LandingIntent {
  /** Exactly what was judged. */
  readonly candidate: string;
  /** The judged base: what the branch has to be at. */
  readonly base: string;
  /** The pass that authorises it. */
  readonly evaluationKey: string;
  /** `authority:epoch` under which it was found to do so; what raised it before the branch was read back is an incident. */
  readonly epoch: number;
}

export interface TicketMerge extends LandingIntent {
  readonly state: 'intended' | 'landed';
}

export interface TicketDocumentation {
  readonly head: string;
  /** Number of its evaluation. */
  readonly n: number;
  /** Set from the intent to the answer of its landing, as `merge` of the change itself. */
  readonly landing: LandingIntent | null;
  /** It has landed, and an operator has to rule on an incident before the ticket ends. */
  readonly landed: boolean;
}
