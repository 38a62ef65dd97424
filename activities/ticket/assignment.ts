/** Writes what a producer is asked, with the words of the findings that sent its work back: those that block, never an adjacent one. */
import { isFindingId } from '../../schemas/gate/finding.ts';
import type { Assignment } from '../../schemas/harness-api.ts';
import { knownFindingsOf, openBlockersOf } from '../evidence/open-findings.ts';
import type { GateReader } from '../store/gate-port.ts';

export interface AssignmentNeeds {
  readonly evidence: Pick<GateReader, 'subjectsOf' | 'readIndex' | 'readItems'>;
  readonly write: (tenant: string, assignment: Assignment) => Promise<void>;
}

export interface AssignmentAsked {
  readonly tenant: string;
  readonly assignment: Assignment;
  /** Ids of the findings that stand in the way, as the ticket's state has them. */
  readonly blockers?: readonly string[];
}

/** @throws `store_unavailable` */
export async function writeAssignment(
  { evidence, write }: AssignmentNeeds,
  { tenant, assignment, blockers = [] }: AssignmentAsked,
): Promise<void> {
  // One that is not there is named by the feedback and missed by the gate: no reason to keep the producer waiting.
  const filed = await knownFindingsOf(evidence, { tenant, ticket: assignment.pair }, blockers.filter(isFindingId));
  await write(tenant, { ...assignment, blockers: await openBlockersOf(evidence, tenant, filed) });
}
