/** Which passes still stand: one rule, so that nothing that changed keeps what rested on it. */
import type { TicketGate } from '../../schemas/ticket/phase.ts';
import type { TicketPass, TicketState } from '../../schemas/ticket/state.ts';

/** True while everything that the pass is about is what the ticket is at. */
export function stands(pass: TicketPass, state: TicketState): boolean {
  if (pass.generation !== state.execution.generation || pass.planRevision !== state.plan?.revision) return false;
  switch (pass.gate) {
    case 'plan':
      return true;
    case 'segment':
      return pass.head === state.head;
    case 'merge':
      return pass.head === state.head && pass.candidate !== null && pass.candidate === state.candidate?.commit;
  }
}

/** The newest pass of that gate that stands. */
export function standingPass(state: TicketState, gate: TicketGate): TicketPass | null {
  return state.passes.findLast((pass) => pass.gate === gate && stands(pass, state)) ?? null;
}
