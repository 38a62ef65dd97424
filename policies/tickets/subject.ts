/** What is judged at each gate of a ticket, in the words that verification takes. */
import type { TicketDefinition } from '../../schemas/ticket/definition.ts';
import type { TicketGate } from '../../schemas/ticket/phase.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import type { SubjectParameters } from '../../schemas/verification/workflow.ts';
import { workspaceWorkflowId } from '../../schemas/workflow-ids.ts';

/** `null` when the ticket has nothing to judge at that gate. */
export function subjectParameters(
  state: TicketState,
  definition: TicketDefinition,
  gate: TicketGate,
): SubjectParameters | null {
  const change = changeOf(state, gate);
  if (state.plan === null || change === null) return null;
  const { revision, digest, commit } = state.plan;
  return {
    tenant: state.tenant,
    ticket: state.ticketId,
    gate,
    execution: state.execution,
    stateRevision: state.revision,
    round: state.round,
    plan: { revision, digest, commit },
    segment: gate === 'segment' && state.segment !== null ? { n: state.segment.n, of: state.segment.of } : null,
    change,
    branchHead: state.head,
    producer: { run: producerRun(state, 'forge') },
    definition,
    priorBlockers: state.blockers,
  };
}

function changeOf(state: TicketState, gate: TicketGate): SubjectParameters['change'] | null {
  switch (gate) {
    case 'plan':
      return { base: state.base, head: state.head };
    case 'segment':
      return state.segment === null ? null : { base: state.segment.base, head: state.head };
    case 'merge':
      return state.candidate === null ? null : { base: state.candidate.base, head: state.candidate.commit };
  }
}

/** The workspace that the newest work of the role comes from. */
export function producerRun(state: TicketState, role: 'forge' | 'lore'): string {
  return workspaceWorkflowId({
    tenant: state.tenant,
    ticket: state.ticketId,
    role,
    workspaceGeneration: Math.max(1, state.workspaceGenerations[role]),
  });
}
