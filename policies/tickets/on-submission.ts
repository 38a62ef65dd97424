/** What FORGE hands in: a plan, a segment, the word that all is built. */
import type { EventOf } from '../../schemas/ticket/event.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import { enter, mismatch, moved, refused, type Change } from './outcome.ts';
import { standingPass } from './passes.ts';
import { wasRejected } from './rejected.ts';

export function onPlanSubmitted(state: TicketState, event: EventOf<'planSubmitted'>): Change {
  const { commit, digest, segments } = event.plan;
  if (wasRejected(state, { commit, content: digest, base: null })) return refused('candidate_unchanged', { commit });
  const revision = (state.plan?.revision ?? 0) + 1;
  const planned: TicketState = {
    ...state,
    plan: { revision, digest, commit, segments },
    head: commit,
    tree: null,
    segment: null,
  };
  return moved(enter(planned, 'plan_review'), `plan ${revision} at ${commit}`);
}

export function onSegmentSubmitted(state: TicketState, event: EventOf<'segmentSubmitted'>): Change {
  const { segment } = state;
  const { n, head, tree, base } = event;
  if (segment === null) return refused('ticket_phase', { event: event.type, phase: state.phase });
  if (segment.passed === segment.of) return mismatch(event.type, 'segment', n, 'none: all have passed');
  if (n !== segment.n) return mismatch(event.type, 'segment', n, segment.n);
  if (head === segment.base || wasRejected(state, { commit: head, content: tree, base })) {
    return refused('candidate_unchanged', { commit: head });
  }
  return moved(enter({ ...state, head, tree }, 'segment_review'), `segment ${n} at ${head}`);
}

export function onReadySubmitted(state: TicketState, event: EventOf<'readySubmitted'>): Change {
  const { segment } = state;
  if (segment === null) return refused('ticket_phase', { event: event.type, phase: state.phase });
  if (segment.passed < segment.of) return mismatch(event.type, 'segment', 'all', segment.n);
  if (event.head !== state.head) return mismatch(event.type, 'head', event.head, state.head);
  if (standingPass(state, 'segment') === null) return mismatch(event.type, 'segment', 'all', segment.n);
  const attempts = { ...state.attempts, tests: 0, candidates: 0 };
  return moved(enter({ ...state, candidate: null, attempts }, 'testing'), `ready at ${event.head}`);
}
