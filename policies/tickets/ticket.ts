/** A ticket as it begins. */
import { branchOf } from '../../schemas/git/refs.ts';
import type { TicketDefinition } from '../../schemas/ticket/definition.ts';
import type { TicketAttempts, TicketState } from '../../schemas/ticket/state.ts';

export interface NewTicket {
  readonly tenant: string;
  readonly definition: Pick<TicketDefinition, 'id' | 'issueUrl' | 'baseBranch'>;
  /** Head of the base branch. */
  readonly base: string;
  readonly at: number;
}

export const FRESH_ATTEMPTS: TicketAttempts = {
  rework: 0,
  rounds: { plan: 0, segment: 0, merge: 0 },
  providerFailures: 0,
  tests: 0,
  candidates: 0,
  ci: 0,
  docs: 0,
  evaluations: 0,
};

export function newTicket({ tenant, definition, base, at }: NewTicket): TicketState {
  return {
    schema: 'portcullis/ticket-state/v1',
    tenant,
    ticketId: definition.id,
    issueUrl: definition.issueUrl,
    pairId: definition.id,
    branch: branchOf('forge', definition.id) ?? definition.id,
    baseBranch: definition.baseBranch,
    phase: 'planning',
    execution: { id: 'e1', generation: 1 },
    revision: 1,
    round: 1,
    plan: null,
    segment: null,
    base,
    head: base,
    tree: null,
    candidate: null,
    review: null,
    passes: [],
    decisions: [],
    blockers: [],
    feedback: null,
    rejected: [],
    lineage: [],
    pr: null,
    merge: null,
    documentation: null,
    waitingOn: 'workspace',
    since: at,
    stop: null,
    resumePhase: null,
    attempts: FRESH_ATTEMPTS,
    workspaces: [],
    workspaceGenerations: { forge: 0, lore: 0 },
    appliedUpdates: [],
    history: [],
  };
}
