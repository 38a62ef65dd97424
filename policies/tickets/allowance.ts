/**
 * How much of a ticket's hearing its agents may use up. Temporal takes about ten updates at once and 2,000 in one run of a
 * workflow, whoever sends them: an agent that submits without end must leave room for an operator.
 */
import type { TicketRefusal, TicketUpdateOutcome } from '../../schemas/ticket/state.ts';
import { isPassingOutcome } from '../../schemas/ticket/update-id.ts';
import type { TicketUpdateName } from '../../schemas/ticket/workflow.ts';

export const UPDATE_BOUNDS = {
  /** Of agents, looked at at the same time. */
  atOnce: 4,
  /** Of agents, refused on one revision: one assignment, one review. */
  refused: 20,
  /** Of agents, heard on one revision, those included that nobody could look at. */
  heard: 200,
  /** Of everybody, in one run; past this it continues as new before its next step. */
  run: 500,
} as const;

/** What one run of the workflow has heard. */
export interface UpdateAllowance {
  readonly run: number;
  /** Of agents, not answered yet. */
  readonly underWay: number;
  /** The newest revision that an agent named, and what was heard and refused of agents on it. */
  readonly revision: number;
  readonly heard: number;
  readonly refused: number;
}

export const NOTHING_HEARD: UpdateAllowance = { run: 0, underWay: 0, revision: 0, heard: 0, refused: 0 };

const OF_OPERATORS: readonly TicketUpdateName[] = ['decide', 'decideGate', 'resume', 'abandon'];

/** Why an update on the ticket's revision is not heard; `null` when it is. An operator's always is. */
export function overspent(spent: UpdateAllowance, update: TicketUpdateName, revision: number): TicketRefusal | null {
  if (OF_OPERATORS.includes(update)) return null;
  if (spent.underWay >= UPDATE_BOUNDS.atOnce) return { code: 'rate_limited', details: {} };
  if (spent.revision !== revision) return null;
  if (spent.refused >= UPDATE_BOUNDS.refused) return over(`${spent.refused} of its submissions were refused`);
  if (spent.heard >= UPDATE_BOUNDS.heard) return over(`${spent.heard} submissions were heard`);
  return null;
}

const over = (what: string): TicketRefusal => ({
  code: 'limit',
  details: { reason: `${what} on this revision of the ticket` },
});

export function whenHeard(spent: UpdateAllowance, update: TicketUpdateName, revision: number): UpdateAllowance {
  const counted = { ...spent, run: spent.run + 1 };
  if (OF_OPERATORS.includes(update)) return counted;
  const on = revision > spent.revision ? { revision, heard: 1, refused: 0 } : { heard: spent.heard + 1 };
  return { ...counted, underWay: spent.underWay + 1, ...on };
}

/** @param outcome `null`: it was never answered. What nobody could look at was not refused. */
export function whenAnswered(
  spent: UpdateAllowance,
  update: TicketUpdateName,
  revision: number,
  outcome: TicketUpdateOutcome | null,
): UpdateAllowance {
  if (OF_OPERATORS.includes(update)) return spent;
  const isRefused = outcome?.accepted === false && !isPassingOutcome(outcome) && revision === spent.revision;
  return { ...spent, underWay: spent.underWay - 1, refused: spent.refused + (isRefused ? 1 : 0) };
}

/** Whether the run has heard so much that it should end before its next step. */
export function isSpent({ run }: UpdateAllowance): boolean {
  return run >= UPDATE_BOUNDS.run;
}
