/** Documenting what has landed: LORE's change, submitted, judged, and landed like the change itself. */
import type { EventOf } from '../../schemas/ticket/event.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import { TICKET_BOUNDS } from './bounds.ts';
import { mismatch, moved, nextEvaluation, refused, stop, type Change } from './outcome.ts';

export function onDocumentationSubmitted(state: TicketState, event: EventOf<'documentationSubmitted'>): Change {
  const { documentation } = state;
  if (documentation !== null) return mismatch(event.type, 'documentation', event.head, documentation.head);
  if (event.head === state.merge?.candidate) return refused('candidate_unchanged', { commit: event.head });
  const counted = nextEvaluation(state);
  const n = counted.attempts.evaluations;
  const submitted = { head: event.head, n, landing: null, landed: false };
  return moved({ ...counted, documentation: submitted }, `documentation at ${event.head}`);
}

/** From here on only the answer of its landing changes the ticket. */
export function onDocumentationIntended(state: TicketState, event: EventOf<'documentationIntended'>): Change {
  const { documentation } = state;
  const { candidate, base, evaluationKey, epoch } = event;
  if (documentation === null || documentation.landed) {
    return mismatch(event.type, 'documentation', candidate, documentation?.head ?? 'none');
  }
  const landing = { candidate, base, evaluationKey, epoch };
  return moved({ ...state, documentation: { ...documentation, landing } }, `landing documentation ${candidate}`);
}

export function onDocumentationLanded(state: TicketState, event: EventOf<'documentationLanded'>): Change {
  const { commit, incident } = event;
  const n = state.documentation?.n ?? 0;
  const landed: TicketState = { ...state, documentation: { head: commit, n, landing: null, landed: true } };
  const detail = `documented at ${commit}`;
  return incident === null
    ? moved({ ...landed, phase: 'done' }, detail)
    : moved(stop(landed, 'awaiting_human', 'landing_incident', incident, 'documenting'), detail);
}

export function onNothingToDocument(state: TicketState): Change {
  return moved({ ...state, phase: 'done' }, 'nothing to document');
}

export function onDocumentationFailed(state: TicketState, event: EventOf<'documentationFailed'>): Change {
  const docs = state.attempts.docs + 1;
  const counted = { ...state, documentation: null, attempts: { ...state.attempts, docs } };
  const detail = `documentation failed: ${event.reason}`;
  return docs >= TICKET_BOUNDS.docs
    ? moved(stop(counted, 'awaiting_human', 'documentation_failed', event.reason, 'documenting'), detail)
    : moved(counted, detail);
}
