/** How often and how long anything is tried before a person looks at it (spec/tickets.md, Bounded loops). */
import type { TicketWait } from '../../schemas/ticket/phase.ts';

export const TICKET_BOUNDS = {
  /** Rounds of a plan, of a segment, of a merge candidate. */
  rounds: 3,
  /** Times a ticket's work is sent back, in all. */
  rework: 10,
  /** Agents, workspaces and reviewers that failed us. */
  providerFailures: 5,
  /** Tests of one candidate without an answer. */
  tests: 3,
  /** Candidates made because the base moved. */
  candidates: 3,
  /** Reports of the continuous integration that are no answer. */
  ci: 3,
  docs: 3,
} as const;

const MINUTE = 60;

/**
 * Seconds that one wait may last; `null`: for as long as a person takes. FORGE's waits are longer than any life of a workspace,
 * whose own timer comes first; these catch what no other timer does.
 */
export const WAIT_BOUND_SECONDS = {
  workspace: 60 * MINUTE,
  plan: 5 * 60 * MINUTE,
  segment: 5 * 60 * MINUTE,
  ready: 5 * 60 * MINUTE,
  verification: 90 * MINUTE,
  gate: 15 * MINUTE,
  candidate: 15 * MINUTE,
  test: 90 * MINUTE,
  ci: 120 * MINUTE,
  merge: 30 * MINUTE,
  documentation: 90 * MINUTE,
  operator: null,
  nothing: null,
} as const satisfies Readonly<Record<TicketWait, number | null>>;

/** Between steps that change nothing, of which this is the `n`th in a row: each longer than the one before, up to five minutes. */
export function idlePauseMs(n: number): number {
  return Math.min(5 * MINUTE, 2 ** Math.min(n - 1, 10)) * 1000;
}
