/**
 * The table of spec/tickets.md as data: phase × event → the phases it can lead to. What is not here is refused by name. Which of
 * several targets it is, the handler of the event says; `apply` lets nothing out that the table does not list.
 */
import type { TicketEventType } from '../../schemas/ticket/event.ts';
import {
  isTerminal,
  WORK_PHASES,
  type TerminalPhase,
  type TicketPhase,
  type WorkPhase,
} from '../../schemas/ticket/phase.ts';

type Row = Readonly<Partial<Record<TicketEventType, readonly TicketPhase[]>>>;
type LivePhase = Exclude<TicketPhase, TerminalPhase>;

/** Observations of workspaces that change nothing about where the ticket stands. */
const noted = (phase: TicketPhase): Row => ({
  workspaceReady: [phase],
  workspaceReleased: [phase],
  workspaceEnded: [phase],
  cancelled: ['abandoned'],
});

const working = (phase: WorkPhase): Row => ({
  ...noted(phase),
  operatorDecided: ['abandoned'],
  killSwitchTurned: ['blocked'],
  recoveryFailed: ['awaiting_human'],
  waitExceeded: ['awaiting_human'],
});

/** A phase in which an agent works: losing its workspace starts a new execution there, or needs a person. */
const producing = (phase: WorkPhase): Row => ({
  ...working(phase),
  workspaceStarted: [phase],
  workspaceEnded: [phase, 'awaiting_human'],
  agentAsked: [phase],
  agentFailed: [phase, 'awaiting_human'],
});

const reviewing = (phase: WorkPhase, gateDecided: readonly TicketPhase[]): Row => ({
  ...working(phase),
  reviewAnswered: [phase],
  reviewed: [phase, 'awaiting_human', 'blocked'],
  verificationUnavailable: [phase, 'awaiting_human'],
  artifactMissing: ['blocked'],
  gateDecided: [...gateDecided, 'awaiting_human', 'blocked'],
  personDecided: [phase],
});

const stopped = (phase: TicketPhase): Row => ({
  ...noted(phase),
  cancelled: ['abandoned', 'done'],
  // Of what the gate judged before it stopped.
  personDecided: [phase],
  operatorDecided: [...WORK_PHASES, 'abandoned', 'done'],
});

export const EDGES: Readonly<Record<LivePhase, Row>> = {
  planning: { ...producing('planning'), planSubmitted: ['plan_review'] },
  plan_review: reviewing('plan_review', ['building', 'planning']),
  building: {
    ...producing('building'),
    segmentSubmitted: ['segment_review'],
    readySubmitted: ['testing'],
  },
  segment_review: reviewing('segment_review', ['building']),
  testing: {
    ...working('testing'),
    artifactMissing: ['blocked'],
    candidateMade: ['testing'],
    candidateConflicted: ['building', 'awaiting_human'],
    candidateTested: ['review_ready', 'building', 'testing', 'blocked', 'awaiting_human'],
  },
  review_ready: reviewing('review_ready', ['merging', 'building']),
  merging: {
    ...working('merging'),
    pullRequestOpened: ['merging'],
    ciReported: ['merging', 'building', 'blocked', 'awaiting_human'],
    mergeIntended: ['merging'],
    landed: ['documenting', 'awaiting_human'],
    baseMoved: ['testing', 'awaiting_human'],
    landingRefused: ['blocked'],
    landingUnanswered: ['awaiting_human'],
  },
  documenting: {
    ...producing('documenting'),
    // The change has landed: what is abandoned or cancelled is its documentation.
    cancelled: ['done'],
    operatorDecided: ['done'],
    documentationSubmitted: ['documenting'],
    documentationIntended: ['documenting'],
    documentationLanded: ['done', 'awaiting_human'],
    nothingToDocument: ['done'],
    documentationFailed: ['documenting', 'awaiting_human'],
    landingUnanswered: ['awaiting_human'],
  },
  blocked: stopped('blocked'),
  awaiting_human: stopped('awaiting_human'),
};

/** Where this event can lead from this phase; empty when it has no place there. */
export function targetsOf(phase: TicketPhase, event: TicketEventType): readonly TicketPhase[] {
  return isTerminal(phase) ? [] : (EDGES[phase][event] ?? []);
}

/** What a moved ref is waiting for: nothing else may change the ticket before it is answered. */
export const ANSWERS_OF_A_LANDING: readonly TicketEventType[] = [
  'landed',
  'baseMoved',
  'landingRefused',
  'landingUnanswered',
  'documentationLanded',
  'documentationFailed',
  'workspaceReady',
  'workspaceReleased',
  'workspaceEnded',
];
