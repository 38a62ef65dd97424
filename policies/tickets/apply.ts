/**
 * The reducer of a ticket: every change of its state, pure and total. A refused event changes nothing and says why by a code of
 * the catalogue.
 *
 * @example
 * const step = apply(state, { type: 'readySubmitted', revision: 7, head, at, actor });
 * if (step.ok) state = step.state; // otherwise step.refusal
 */
import { shortened } from '../../schemas/text.ts';
import type { TicketEvent } from '../../schemas/ticket/event.ts';
import { isStopped, isTerminal } from '../../schemas/ticket/phase.ts';
import { STATE_LIMITS, type TicketRefusal, type TicketState } from '../../schemas/ticket/state.ts';
import { onCandidateConflicted, onCandidateMade, onCandidateTested } from './on-candidate.ts';
import {
  onDocumentationFailed,
  onDocumentationIntended,
  onDocumentationLanded,
  onDocumentationSubmitted,
  onNothingToDocument,
} from './on-documentation.ts';
import { onGateDecided, onPersonDecided } from './on-gate.ts';
import {
  onBaseMoved,
  onCiReported,
  onLanded,
  onLandingRefused,
  onLandingUnanswered,
  onMergeIntended,
  onPullRequestOpened,
} from './on-merge.ts';
import { onCancelled, onKillSwitchTurned, onOperatorDecided, onRecoveryFailed, onWaitExceeded } from './on-operator.ts';
import { onArtifactMissing, onReviewAnswered, onReviewed, onVerificationUnavailable } from './on-review.ts';
import { onPlanSubmitted, onReadySubmitted, onSegmentSubmitted } from './on-submission.ts';
import {
  onAgentAsked,
  onAgentFailed,
  onWorkspaceEnded,
  onWorkspaceReady,
  onWorkspaceReleased,
  onWorkspaceStarted,
} from './on-workspace.ts';
import { newest, type Change } from './outcome.ts';
import { stands } from './passes.ts';
import { landingUnderWay, roundOf, waitOf } from './position.ts';
import { ANSWERS_OF_A_LANDING, targetsOf } from './table.ts';

export type Applied =
  | {
      readonly ok: true;
      readonly state: TicketState;
      /** In words, for the history and the ring. */ readonly detail: string;
    }
  | { readonly ok: false; readonly refusal: TicketRefusal };

export function apply(state: TicketState, event: TicketEvent): Applied {
  const refusal = inadmissible(state, event);
  if (refusal !== null) return { ok: false, refusal };
  const change = handle(state, event);
  if (change.kind === 'refused') return { ok: false, refusal: change.refusal };
  if (!targetsOf(state.phase, event.type).includes(change.state.phase)) return misplaced(state, event);
  return { ok: true, state: settled(state, change, event), detail: change.detail };
}

/** Why the event may not even be looked at, whatever else it says; `null` when it may. */
export function inadmissible(state: TicketState, event: Pick<TicketEvent, 'type'>): TicketRefusal | null {
  const { phase, revision } = state;
  if (isTerminal(phase)) return { code: 'ticket_ended', details: { phase } };
  if ('revision' in event && typeof event.revision === 'number' && event.revision !== revision) {
    return {
      code: 'ticket_stale',
      details: { event: event.type, revision: event.revision, current: revision },
    };
  }
  // Once it has stopped without an answer, an operator may send it on, which asks for that answer again, or give it up.
  const landing = isStopped(phase) ? null : landingUnderWay(state);
  if (landing !== null && !ANSWERS_OF_A_LANDING.includes(event.type)) {
    return { code: 'merge_in_progress', details: { event: event.type, candidate: landing.candidate } };
  }
  if (targetsOf(phase, event.type).length === 0) return { code: 'ticket_phase', details: { event: event.type, phase } };
  return null;
}

function misplaced(state: TicketState, event: TicketEvent): Applied {
  return { ok: false, refusal: { code: 'ticket_phase', details: { event: event.type, phase: state.phase } } };
}

/** What holds after every change: dead passes are dropped, the wait is named, a transition is numbered and remembered. */
function settled(before: TicketState, change: Exclude<Change, { kind: 'refused' }>, event: TicketEvent): TicketState {
  const { state, detail } = change;
  const transition = change.kind === 'moved';
  const waitingOn = waitOf(state);
  const revision = before.revision + (transition ? 1 : 0);
  const entry = {
    version: revision,
    actor: event.actor,
    from: before.phase,
    to: state.phase,
    at: event.at,
    detail: shortened(detail, 256),
  };
  return {
    ...state,
    revision,
    round: roundOf(state),
    passes: state.passes.filter((pass) => stands(pass, state)),
    waitingOn,
    since: transition || waitingOn !== before.waitingOn ? event.at : before.since,
    history: transition ? newest([...before.history, entry], STATE_LIMITS.history) : before.history,
  };
}

function handle(state: TicketState, event: TicketEvent): Change {
  switch (event.type) {
    case 'planSubmitted':
      return onPlanSubmitted(state, event);
    case 'segmentSubmitted':
      return onSegmentSubmitted(state, event);
    case 'readySubmitted':
      return onReadySubmitted(state, event);
    case 'reviewAnswered':
      return onReviewAnswered(state, event);
    case 'reviewed':
      return onReviewed(state, event);
    case 'verificationUnavailable':
      return onVerificationUnavailable(state, event);
    case 'artifactMissing':
      return onArtifactMissing(state, event);
    case 'gateDecided':
      return onGateDecided(state, event);
    case 'personDecided':
      return onPersonDecided(state, event);
    case 'candidateMade':
      return onCandidateMade(state, event);
    case 'candidateConflicted':
      return onCandidateConflicted(state, event);
    case 'candidateTested':
      return onCandidateTested(state, event);
    case 'pullRequestOpened':
      return onPullRequestOpened(state, event);
    case 'ciReported':
      return onCiReported(state, event);
    case 'mergeIntended':
      return onMergeIntended(state, event);
    case 'landed':
      return onLanded(state, event);
    case 'baseMoved':
      return onBaseMoved(state, event);
    case 'landingRefused':
      return onLandingRefused(state, event);
    case 'landingUnanswered':
      return onLandingUnanswered(state, event);
    case 'documentationSubmitted':
      return onDocumentationSubmitted(state, event);
    case 'documentationIntended':
      return onDocumentationIntended(state, event);
    case 'documentationLanded':
      return onDocumentationLanded(state, event);
    case 'nothingToDocument':
      return onNothingToDocument(state);
    case 'documentationFailed':
      return onDocumentationFailed(state, event);
    case 'operatorDecided':
      return onOperatorDecided(state, event);
    case 'waitExceeded':
      return onWaitExceeded(state, event);
    case 'workspaceStarted':
      return onWorkspaceStarted(state, event);
    case 'workspaceReady':
      return onWorkspaceReady(state, event);
    case 'workspaceReleased':
      return onWorkspaceReleased(state, event);
    case 'workspaceEnded':
      return onWorkspaceEnded(state, event);
    case 'agentAsked':
      return onAgentAsked(state, event);
    case 'agentFailed':
      return onAgentFailed(state, event);
    case 'recoveryFailed':
      return onRecoveryFailed(state, event);
    case 'killSwitchTurned':
      return onKillSwitchTurned(state, event);
    case 'cancelled':
      return onCancelled(state, event);
  }
}
