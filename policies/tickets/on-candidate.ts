/** The merge candidate: made, or not; tested, or not. */
import type { EventOf } from '../../schemas/ticket/event.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import { TICKET_BOUNDS } from './bounds.ts';
import { enter, mismatch, moved, nextEvaluation, refs, refused, stop, type Change } from './outcome.ts';
import { sendBack } from './rework.ts';
import { shortened } from '../../schemas/text.ts';

export function onCandidateMade(state: TicketState, event: EventOf<'candidateMade'>): Change {
  const { commit, base, head } = event.candidate;
  if (state.candidate !== null) return mismatch(event.type, 'candidate', commit, state.candidate.commit);
  if (head !== state.head) return mismatch(event.type, 'head', head, state.head);
  const made = nextEvaluation({ ...state, candidate: { commit, base, head, tested: false } });
  return moved({ ...made, attempts: { ...made.attempts, tests: 0 } }, `candidate ${commit}`);
}

export function onCandidateConflicted(state: TicketState, event: EventOf<'candidateConflicted'>): Change {
  if (state.candidate !== null) {
    return mismatch(event.type, 'candidate', 'a conflict', state.candidate.commit);
  }
  const paths = event.paths.slice(0, 32);
  return sendBack(state, {
    of: 'merge',
    at: event.at,
    cause: 'conflict',
    feedback: {
      from: 'conflict',
      detail: shortened(`The change conflicts with ${event.base} in ${paths.join(', ')}.`, 1024),
      refs: [event.base],
    },
  });
}

export function onCandidateTested(state: TicketState, event: EventOf<'candidateTested'>): Change {
  const { candidate } = state;
  if (candidate === null) return refused('ticket_phase', { event: event.type, phase: state.phase });
  if (event.candidate !== candidate.commit) {
    return mismatch(event.type, 'candidate', event.candidate, candidate.commit);
  }
  switch (event.status) {
    case 'satisfied':
      return moved(
        enter({ ...state, candidate: { ...candidate, tested: true } }, 'review_ready'),
        `candidate ${candidate.commit} tested`,
      );
    case 'failed':
      return sendBack(state, {
        of: 'merge',
        at: event.at,
        cause: `tests failed: ${event.detail}`,
        feedback: { from: 'test', detail: shortened(event.detail, 1024), refs: refs(event.refs) },
      });
    case 'unanswered':
    case 'not_tested': {
      const tests = state.attempts.tests + 1;
      const counted = { ...state, attempts: { ...state.attempts, tests } };
      const detail = `${event.status}: ${event.detail}`;
      if (tests >= TICKET_BOUNDS.tests) return moved(stop(counted, 'blocked', 'not_tested', detail, 'testing'), detail);
      return moved(nextEvaluation(counted), detail);
    }
  }
}
