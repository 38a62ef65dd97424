/** Landing exactly what was judged. */
import type { EventOf } from '../../schemas/ticket/event.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import { TICKET_BOUNDS } from './bounds.ts';
import { enter, mismatch, moved, refused, stop, type Change } from './outcome.ts';
import { standingPass } from './passes.ts';
import { landingUnderWay } from './position.ts';
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
  const { candidate, base, evaluationKey, epoch } = event;
  const pass = standingPass(state, 'merge');
  if (pass === null) return mismatch(event.type, 'pass', evaluationKey, 'none');
  if (candidate !== pass.candidate) return mismatch(event.type, 'candidate', candidate, pass.candidate ?? 'none');
  if (base !== state.candidate?.base) return mismatch(event.type, 'base', base, state.candidate?.base ?? 'none');
  if (evaluationKey !== pass.evaluationKey) return mismatch(event.type, 'pass', evaluationKey, pass.evaluationKey);
  if (state.pr !== null && state.pr.ci !== 'pass') return mismatch(event.type, 'ci', state.pr.ci, 'pass');
  const merge = { state: 'intended', candidate, base, evaluationKey, epoch } as const;
  return moved({ ...state, merge }, `landing ${candidate}`);
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

/** The intent is kept: whoever sends the ticket on finds out first whether it landed. */
export function onLandingUnanswered(state: TicketState, event: EventOf<'landingUnanswered'>): Change {
  const landing = landingUnderWay(state);
  if (landing === null) return refused('ticket_phase', { event: event.type, phase: state.phase });
  const resume = state.phase === 'documenting' ? 'documenting' : 'merging';
  return moved(
    stop(state, 'awaiting_human', 'landing_unanswered', event.reason, resume),
    `whether ${landing.candidate} landed is not known: ${event.reason}`,
  );
}
