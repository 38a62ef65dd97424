/**
 * Everything that can happen to a ticket: one closed union. An event with a `revision` was decided on that revision and is
 * refused once the ticket has moved on; the others are observations, which are facts whenever they arrive.
 */
import type { GateDecisionWord, HumanAnswer, UnavailableReason } from '../gate/vocabulary.ts';
import type { VerdictRoute } from '../verdict.ts';
import type { AgentAnswer } from '../workspace/agent.ts';
import type { TeardownTrigger } from '../workspace/workflow.ts';
import type { CiState, LandingIntent } from './landing.ts';
import type { TicketGate, TicketWait } from './phase.ts';

interface Happening {
  /** Milliseconds since the epoch, by the workflow's clock. */
  readonly at: number;
  /** Who: a credential's id, or a part of the control plane. */
  readonly actor: string;
}

interface Decided extends Happening {
  readonly revision: number;
}

export type OperatorDecision = 'retry' | 'resume' | 'abandon';
/** How the checks of a candidate came out; `unanswered` is any end without an answer (time-out, lost, unpersisted …). */
export type CandidateTestStatus = 'satisfied' | 'failed' | 'unanswered' | 'not_tested';
/** What went wrong with an agent's turn; `no_submission`: it answered and submitted nothing. */
export type AgentFailure = Exclude<AgentAnswer['outcome'], 'answered'> | 'no_submission';

export type PlanSubmitted = Decided & {
  readonly type: 'planSubmitted';
  readonly plan: { readonly digest: string; readonly commit: string; readonly segments: number };
};
export type SegmentSubmitted = Decided & {
  readonly type: 'segmentSubmitted';
  readonly n: number;
  readonly head: string;
  /** What the commit contains, whatever its message and its parents. */
  readonly tree: string;
  /** Where the base branch is now; `null` where nobody had to look, since nothing that was sent back hangs on it. */
  readonly base: string | null;
};
export type ReadySubmitted = Decided & { readonly type: 'readySubmitted'; readonly head: string };
/** The reviewer used its approval token. No transition: the gate moves the phase. */
export type ReviewAnswered = Decided & {
  readonly type: 'reviewAnswered';
  readonly n: number;
  readonly answer: 'approve' | 'reject';
  readonly approvalId: string;
  readonly reviewDigest: string;
};
/** Verification recorded its evidence; the verdict routes. */
export type Reviewed = Decided & {
  readonly type: 'reviewed';
  readonly n: number;
  readonly subjectDigest: string;
  /** It was asked once more already where it could not be read. */
  readonly route: Exclude<VerdictRoute, 'reask'>;
  readonly failureClass: string | null;
  readonly refs: readonly string[];
  /** With the route `human`: nobody asked for a person, the verdict could not be read. */
  readonly unreadable?: boolean;
  /** Ids of its findings that block; where no gate decides next, they are kept by this. */
  readonly blocking?: readonly string[];
};
export type VerificationUnavailable = Decided & {
  readonly type: 'verificationUnavailable';
  readonly n: number;
  readonly reason: UnavailableReason;
};
export type ArtifactMissing = Decided & { readonly type: 'artifactMissing'; readonly path: string };
export type GateDecided = Decided & {
  readonly type: 'gateDecided';
  readonly n: number;
  readonly gate: TicketGate;
  readonly decision: GateDecisionWord;
  readonly evaluationKey: string;
  readonly subjectDigest: string;
  /** `case:code:ref` of the deciding reasons, at most sixteen. */
  readonly reasons: readonly string[];
  readonly blockers: readonly string[];
  /** Whether people's overrides removed hits: what they overruled does not speak against a pass any more. */
  readonly overruled: boolean;
};
/** A person's decision on what a gate judges is recorded as evidence. No transition: the next evaluation reads it. */
export type PersonDecided = Decided & {
  readonly type: 'personDecided';
  readonly gate: TicketGate;
  readonly subjectDigest: string;
  readonly decision: HumanAnswer;
  readonly decisionId: string;
};
export type CandidateMade = Decided & {
  readonly type: 'candidateMade';
  readonly candidate: { readonly commit: string; readonly base: string; readonly head: string };
};
export type CandidateConflicted = Decided & {
  readonly type: 'candidateConflicted';
  readonly base: string;
  readonly paths: readonly string[];
};
export type CandidateTested = Decided & {
  readonly type: 'candidateTested';
  readonly candidate: string;
  readonly status: CandidateTestStatus;
  readonly detail: string;
  readonly refs: readonly string[];
};
export type PullRequestOpened = Decided & {
  readonly type: 'pullRequestOpened';
  readonly number: number;
  readonly url: string;
};
export type CiReported = Decided & { readonly type: 'ciReported'; readonly state: CiState };
/** Written before the ref is moved. */
export type MergeIntended = Decided & LandingIntent & { readonly type: 'mergeIntended' };
export type Landed = Decided & {
  readonly type: 'landed';
  readonly candidate: string;
  /** The incident that was opened since authority changed under the landing; `null` when it did not. */
  readonly incident: string | null;
};
export type BaseMoved = Decided & { readonly type: 'baseMoved'; readonly base: string };
export type LandingRefused = Decided & { readonly type: 'landingRefused'; readonly reason: string };
/** Whether the branch moved could not be read back in time: it may have landed, and is read back before anything else. */
export type LandingUnanswered = Decided & { readonly type: 'landingUnanswered'; readonly reason: string };
/** From LORE: its change is at this pushed commit. */
export type DocumentationSubmitted = Decided & { readonly type: 'documentationSubmitted'; readonly head: string };
/** As {@link MergeIntended}, of the documentation. */
export type DocumentationIntended = Decided & LandingIntent & { readonly type: 'documentationIntended' };
export type DocumentationLanded = Decided & {
  readonly type: 'documentationLanded';
  readonly commit: string;
  /** As of {@link Landed}. */
  readonly incident: string | null;
};
export type NothingToDocument = Decided & { readonly type: 'nothingToDocument' };
export type DocumentationFailed = Decided & { readonly type: 'documentationFailed'; readonly reason: string };
export type OperatorDecided = Decided & {
  readonly type: 'operatorDecided';
  readonly decision: OperatorDecision;
  readonly reason: string;
};
export type WaitExceeded = Decided & { readonly type: 'waitExceeded'; readonly waitingOn: TicketWait };

/** Recorded before the workspace's workflow is started (invariant 10). */
export type WorkspaceStarted = Happening & {
  readonly type: 'workspaceStarted';
  readonly run: string;
  readonly role: 'forge' | 'lore';
};
export type WorkspaceBecameReady = Happening & {
  readonly type: 'workspaceReady';
  readonly run: string;
  readonly coderWorkspaceId: string;
};
export type WorkspaceReleased = Happening & { readonly type: 'workspaceReleased'; readonly run: string };
export type WorkspaceHasEnded = Happening & {
  readonly type: 'workspaceEnded';
  readonly run: string;
  readonly trigger: TeardownTrigger;
  readonly became: 'ended' | 'never_ready';
  readonly fate: 'gone' | 'quarantined';
  readonly reason: string;
};
export type AgentAsked = Happening & { readonly type: 'agentAsked'; readonly run: string };
export type AgentFailed = Happening & {
  readonly type: 'agentFailed';
  readonly run: string;
  readonly outcome: AgentFailure;
};
export type RecoveryFailed = Happening & { readonly type: 'recoveryFailed'; readonly reason: string };
export type KillSwitchTurned = Happening & { readonly type: 'killSwitchTurned'; readonly reason: string };
export type Cancelled = Happening & { readonly type: 'cancelled'; readonly reason: string };

export type DecidedEvent =
  | PlanSubmitted
  | SegmentSubmitted
  | ReadySubmitted
  | ReviewAnswered
  | Reviewed
  | VerificationUnavailable
  | ArtifactMissing
  | GateDecided
  | PersonDecided
  | CandidateMade
  | CandidateConflicted
  | CandidateTested
  | PullRequestOpened
  | CiReported
  | MergeIntended
  | Landed
  | BaseMoved
  | LandingRefused
  | LandingUnanswered
  | DocumentationSubmitted
  | DocumentationIntended
  | DocumentationLanded
  | NothingToDocument
  | DocumentationFailed
  | OperatorDecided
  | WaitExceeded;

export type ObservedEvent =
  | WorkspaceStarted
  | WorkspaceBecameReady
  | WorkspaceReleased
  | WorkspaceHasEnded
  | AgentAsked
  | AgentFailed
  | RecoveryFailed
  | KillSwitchTurned
  | Cancelled;

export type TicketEvent = DecidedEvent | ObservedEvent;
export type TicketEventType = TicketEvent['type'];
export type EventOf<T extends TicketEventType> = Extract<TicketEvent, { readonly type: T }>;
