/** Landing exactly what was judged, and documenting it. */
import type { EventOf } from '../../schemas/ticket/event.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import { TICKET_BOUNDS } from './bounds.ts';
import { enter, mismatch, moved, nextEvaluation, refused, stop, type Change } from './outcome.ts';
import { standingPass } from './passes.ts';
import { sendBack } from './rework.ts';

export function onPullRequestOpened(state: TicketState, event: EventOf<'pullRequestOpened'>): Change {
  const { number, url } = event;
  return moved({ ...state, pr: { number, url, ci: 'pending' } }, `pull request ${number}`);
}

export function onCiReported(state: TicketState, event: EventOf<'ciReported'>): Change {
  const { pr } = state;
  if (pr === null) return refused('ticket_phase', { event: event.type, phase: state.phase });
  const reported: TicketState = { ...state, pr: { ...pr, ci: event.state } };
  const detail = `continuous integration: ${event.state}`;
  switch (event.state) {
    case 'pass':
    case 'pending':
      return moved(reported, detail);
    case 'fail':
      return sendBack(state, {
        of: 'merge',
        at: event.at,
        cause: 'continuous integration failed',
        feedback: { from: 'ci', detail: `The checks of ${pr.url} failed.`, refs: [] },
      });
    case 'timed_out':
    case 'skipped':
    case 'none': {
      const ci = state.attempts.ci + 1;
      const counted = { ...reported, attempts: { ...state.attempts, ci } };
      return ci >= TICKET_BOUNDS.ci
        ? moved(stop(counted, 'blocked', 'ci_unanswered', event.state, 'merging'), detail)
        : moved(counted, detail);
    }
  }
}

/** @returns refusal unless the gate passed exactly this candidate in this execution */
export function onMergeIntended(state: TicketState, event: EventOf<'mergeIntended'>): Change {
  const { candidate, evaluationKey } = event;
  const pass = standingPass(state, 'merge');
  if (pass === null) return mismatch(event.type, 'pass', evaluationKey, 'none');
  if (candidate !== pass.candidate) return mismatch(event.type, 'candidate', candidate, pass.candidate ?? 'none');
  if (evaluationKey !== pass.evaluationKey) return mismatch(event.type, 'pass', evaluationKey, pass.evaluationKey);
  if (state.pr !== null && state.pr.ci !== 'pass') return mismatch(event.type, 'ci', state.pr.ci, 'pass');
  return moved({ ...state, merge: { state: 'intended', candidate, evaluationKey } }, `landing ${candidate}`);
}

export function onLanded(state: TicketState, event: EventOf<'landed'>): Change {
  const { merge } = state;
  if (merge === null) return refused('ticket_phase', { event: event.type, phase: state.phase });
  if (event.candidate !== merge.candidate) {
    return mismatch(event.type, 'candidate', event.candidate, merge.candidate);
  }
  const landed: TicketState = { ...state, merge: { ...merge, state: 'landed' }, feedback: null, blockers: [] };
  const detail = `landed ${event.candidate}`;
  // It stays landed, and it is not silently done: whose authority it landed on has to be looked at.
  return event.incident === null
    ? moved(enter(landed, 'documenting'), detail)
    : moved(stop(landed, 'awaiting_human', 'landing_incident', event.incident, 'documenting'), detail);
}

/** Another candidate on the new base: the pass was about one that can no longer land. */
export function onBaseMoved(state: TicketState, event: EventOf<'baseMoved'>): Change {
  const candidates = state.attempts.candidates + 1;
  const detail = `the base moved to ${event.base}`;
  if (event.base === state.candidate?.base) return mismatch(event.type, 'base', event.base, 'another');
  const anew: TicketState = {
    ...state,
    candidate: null,
    pr: null,
    merge: null,
    attempts: { ...state.attempts, candidates, tests: 0 },
  };
  return candidates >= TICKET_BOUNDS.candidates
    ? moved(stop(anew, 'awaiting_human', 'candidates_exhausted', detail, 'testing'), detail)
    : moved(enter(anew, 'testing'), detail);
}

export function onLandingRefused(state: TicketState, event: EventOf<'landingRefused'>): Change {
  const refusedLanding: TicketState = { ...state, candidate: null, pr: null, merge: null };
  return moved(
    stop(refusedLanding, 'blocked', 'landing_refused', event.reason, 'testing'),
    `not landed: ${event.reason}`,
  );
}

export function onDocumentationSubmitted(state: TicketState, event: EventOf<'documentationSubmitted'>): Change {
  const { documentation } = state;
  if (documentation !== null) return mismatch(event.type, 'documentation', event.head, documentation.head);
  if (event.head === state.merge?.candidate) return refused('candidate_unchanged', { commit: event.head });
  const counted = nextEvaluation(state);
  const n = counted.attempts.evaluations;
  return moved({ ...counted, documentation: { head: event.head, n, landed: false } }, `documentation at ${event.head}`);
}

export function onDocumentationLanded(state: TicketState, event: EventOf<'documentationLanded'>): Change {
  const detail = `documented at ${event.commit}`;
  if (event.incident === null) return moved({ ...state, phase: 'done' }, detail);
  const landed = { ...state, documentation: { head: event.commit, n: state.documentation?.n ?? 0, landed: true } };
  return moved(stop(landed, 'awaiting_human', 'landing_incident', event.incident, 'documenting'), detail);
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
