/**
 * What a reviewer's final message says to the orchestrator (spec/verdicts.md). A verdict is evidence for the gate, never a
 * decision.
 */

/** The routing signals of a rejection. They are a contract with every reviewer's prompt: never renamed. */
export const VERDICT_TOKENS = ['RETRY_FORJA', 'NEEDS_HUMAN', 'BLOCKED_UPSTREAM'] as const;
export type VerdictToken = (typeof VERDICT_TOKENS)[number];

/** Why nothing can be read. Closed: each one has a sentence in the re-ask. */
export const UNPARSEABLE_REASONS = [
  /** No fenced `json` block of the message holds an object with `verdict` or `verdict_token`. */
  'no_block',
  /** The last block is not one JSON value that every reader understands alike. */
  'malformed_json',
  'repeated_key',
  'too_deep',
  'block_too_large',
  /** A field of the block is not a string. */
  'wrong_type',
  'unknown_verdict',
  'unknown_token',
  'rejected_without_token',
  'approved_with_token',
  /** The verdict can be read and what stands beside it cannot: `findings` or `dispositions` of another form. */
  'report_malformed',
  /** An approval that names a finding which blocks. */
  'approved_with_blocker',
  /** The message is past the bounds within which Markdown is parsed at all. */
  'message_too_large',
  'message_too_nested',
  'message_not_utf8',
] as const;
export type UnparseableReason = (typeof UNPARSEABLE_REASONS)[number];

export interface ApprovedReading {
  readonly verdict: 'APPROVED';
}

export interface RejectedReading {
  readonly verdict: 'REJECTED';
  readonly token: VerdictToken;
  /** Lower-kebab, 1 to 64 characters; an open tag for logs and lessons that nothing routes on. `null` when not given. */
  readonly failureClass: string | null;
}

export interface UnparseableReading {
  readonly verdict: 'UNPARSEABLE';
  readonly reason: UnparseableReason;
  /** One sentence for the reviewer, plain ASCII, under 400 characters; quotes at most 40 characters of the block. */
  readonly detail: string;
}

export type VerdictReading = ApprovedReading | RejectedReading | UnparseableReading;

/** What the orchestrator does next. */
export const VERDICT_ROUTES = ['proceed', 'retry_producer', 'human', 'stop', 'reask'] as const;
export type VerdictRoute = (typeof VERDICT_ROUTES)[number];

/** One rejection of an issue, as the lineage and the lesson keep it. */
export interface Rejection {
  /** Where the reviewer's message is kept, so that a person can read the prose. */
  readonly messageRef: string;
  readonly token: VerdictToken;
  readonly failureClass: string | null;
}

/**
 * Written by the orchestrator when an issue is rejected twice in a row: a second rejection says that the first diagnosis
 * was wrong. One for each streak.
 */
export interface Lesson {
  readonly schema: 'portcullis/lesson/v1';
  /** The ticket. */
  readonly issue: string;
  /** The rejections of the streak up to the one that fired, oldest first. */
  readonly rejections: readonly Rejection[];
  /** The classes of those rejections, each once, in the order they came up. */
  readonly failureClasses: readonly string[];
}
