/**
 * The state of a ticket: owned by its workflow, changed only by `policies/tickets/apply.ts`, projected to the store by
 * `recordTransition`. Bounded (every list has a limit), so that it travels through continue-as-new (spec/tickets.md).
 */
import type { VerdictRoute } from '../verdict.ts';
import type { WorkspaceRole } from '../workspace/workflow.ts';
import type { TicketDocumentation, TicketMerge, TicketPullRequest } from './landing.ts';
import type { TicketGate, TicketPhase, TicketWait, WorkPhase } from './phase.ts';

/** Longest lists of a state. */
export const STATE_LIMITS = {
  history: 64,
  lineage: 32,
  appliedUpdates: 128,
  ids: 64,
  workspaces: 16,
  rejected: 64,
} as const;

export interface TicketExecution {
  readonly id: string;
  /** +1 for each new execution: nothing of one authorises the next (invariant 4). */
  readonly generation: number;
}

export interface TicketPlan {
  /** +1 for each plan that is submitted; survives a rejection. */
  readonly revision: number;
  /** Digest of PLAN.md's bytes at the commit. */
  readonly digest: string;
  readonly commit: string;
  readonly segments: number;
}

export interface TicketSegment {
  /** The segment that is built or reviewed, from 1. */
  readonly n: number;
  readonly of: number;
  /** How many have passed their gate: `ready` needs all. */
  readonly passed: number;
  /** The commit that this segment starts from. */
  readonly base: string;
}

/** Head combined with base, made by the control plane. What is judged is this, and only this lands. */
export interface TicketCandidate {
  readonly commit: string;
  readonly base: string;
  readonly head: string;
  /** Whether its checks were run and satisfied. */
  readonly tested: boolean;
}

/** The evaluation under way in a review phase. */
export interface TicketReview {
  /** Counts the evaluations of this ticket: part of the ids of `verification` and `gate` workflows. */
  readonly n: number;
  readonly gate: TicketGate;
  /** The digest of what is judged, once verification recorded it. */
  readonly subjectDigest: string | null;
  /** What the reviewer's verdict asks for; `null` until it is there. */
  readonly route: VerdictRoute | null;
  /** The review that consumed the approval token; `null` until somebody did. */
  readonly answer: TicketAnswer | null;
  /** Ids of the people's decisions on this subject that no evaluation has read yet. */
  readonly people: readonly string[];
}

export interface TicketAnswer {
  readonly answer: 'approve' | 'reject';
  readonly approvalId: string;
  readonly reviewDigest: string;
}

/** A gate's pass, and everything it is about. Dropped as soon as any of that changes. */
export interface TicketPass {
  readonly gate: TicketGate;
  readonly evaluationKey: string;
  readonly subjectDigest: string;
  readonly generation: number;
  readonly planRevision: number;
  readonly head: string;
  /** `null` for a plan or a segment. */
  readonly candidate: string | null;
}

/** What the producer is sent back with: the words are ours, the reasons are in the records named. */
export interface TicketFeedback {
  readonly from: 'review' | 'gate' | 'test' | 'conflict' | 'ci';
  readonly detail: string;
  /** Evidence, findings, reviews, tasks. */
  readonly refs: readonly string[];
}

/** Work that was sent back: it is not judged again as it is, however it is wrapped. */
export interface RejectedWork {
  readonly commit: string;
  /** PLAN.md's digest, or the tree of a segment; `null` where only the place in the history was wrong: it contradicts the base. */
  readonly content: string | null;
  /** Where its tests failed, not itself: the base that it was combined with. On another one it may pass. `null` otherwise. */
  readonly base: string | null;
}

/** One time the work was sent back, or the reviewer's answer stopped it. */
export interface TicketRejection {
  readonly at: number;
  readonly phase: TicketPhase;
  readonly round: number;
  readonly cause: string;
  readonly refs: readonly string[];
}

export const STOP_CAUSES = [
  'reviewer_asked',
  'upstream',
  'gate_human_required',
  'gate_blocked',
  'missing_artifact',
  'unparseable_verdict',
  'verdict_contradicts_gate',
  'rounds_exhausted',
  'rework_exhausted',
  'provider_failed',
  'not_tested',
  'candidates_exhausted',
  'landing_refused',
  'landing_incident',
  'landing_unanswered',
  'ci_unanswered',
  'documentation_failed',
  'recovery_failed',
  'wait_exceeded',
  'kill_switch',
] as const;
export type StopCause = (typeof STOP_CAUSES)[number];

/** Why a ticket is blocked or waits for a person. */
export interface TicketStop {
  readonly cause: StopCause;
  /** What exactly: a path, a reason code, a finding. */
  readonly detail: string;
}

export interface TicketWorkspace {
  /** Id of the workspace's workflow. */
  readonly run: string;
  readonly role: WorkspaceRole;
  readonly workspaceGeneration: number;
  /** `releasing`: we asked for its end, so its end is no loss. */
  readonly status: 'starting' | 'ready' | 'releasing';
  readonly coderWorkspaceId: string | null;
  /** Turns that its agent was asked for. */
  readonly turns: number;
}

/** What was tried, as the bounds count it. An operator's decision starts all but `evaluations` afresh. */
export interface TicketAttempts {
  /** Times the work was sent back, in all. */
  readonly rework: number;
  /** Times it was sent back in the plan, in this segment, and as a merge candidate. */
  readonly rounds: Readonly<Record<TicketGate, number>>;
  readonly providerFailures: number;
  /** Tests of this candidate that had no answer. */
  readonly tests: number;
  /** Candidates that a moved base made. */
  readonly candidates: number;
  /** Answers of the continuous integration that were none. */
  readonly ci: number;
  readonly docs: number;
  /** Evaluations so far. */
  readonly evaluations: number;
}

/** What an update came to; a repeat with the same id is answered with it, also after continue-as-new. */
export interface AppliedUpdate {
  readonly id: string;
  readonly outcome: TicketUpdateOutcome;
}

export type TicketUpdateOutcome =
  | { readonly accepted: true; readonly revision: number; readonly phase: TicketPhase }
  | { readonly accepted: false; readonly refusal: TicketRefusal };

/** Codes of `schemas/errors.ts` that the reducer refuses with. */
export const REFUSAL_CODES = [
  'ticket_stale',
  'ticket_phase',
  'ticket_ended',
  'ticket_mismatch',
  'candidate_unchanged',
  'merge_in_progress',
  'approval_used',
  'missing_artifact',
  'not_allowed',
  'schema_invalid',
  'override_refused',
  'submission_unavailable',
  'limit',
  'rate_limited',
] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

export interface TicketRefusal {
  readonly code: RefusalCode;
  readonly details: Readonly<Record<string, string | number>>;
}

export interface TicketHistoryEntry {
  /** The revision that the transition made. */
  readonly version: number;
  readonly actor: string;
  readonly from: TicketPhase;
  readonly to: TicketPhase;
  /** Milliseconds since the epoch, by the workflow's clock. */
  readonly at: number;
  readonly detail: string;
}

export interface TicketState {
  readonly schema: 'portcullis/ticket-state/v1';
  readonly tenant: string;
  readonly ticketId: string;
  readonly issueUrl: string | null;
  /** Equal to the ticket's id (DESIGN section 2). */
  readonly pairId: string;
  readonly branch: string;
  readonly baseBranch: string;
  readonly phase: TicketPhase;
  readonly execution: TicketExecution;
  /** +1 for each transition; every decision names the one it was made on. */
  readonly revision: number;
  /** Round of the plan, the segment or the candidate that is worked on, from 1. */
  readonly round: number;
  readonly plan: TicketPlan | null;
  readonly segment: TicketSegment | null;
  /** The commit of the base branch that the work starts from. */
  readonly base: string;
  /** The last durable commit of the work; at first the base. */
  readonly head: string;
  /** The tree of `head` where that is a segment; `null` otherwise. */
  readonly tree: string | null;
  readonly candidate: TicketCandidate | null;
  readonly review: TicketReview | null;
  readonly passes: readonly TicketPass[];
  /** Evaluation keys, oldest first: a list to look closer, without authority. */
  readonly decisions: readonly string[];
  /** Ids of the findings that stand in the way. */
  readonly blockers: readonly string[];
  readonly feedback: TicketFeedback | null;
  /** What was sent back of this plan, or of this segment and the candidates made of it, oldest first. */
  readonly rejected: readonly RejectedWork[];
  readonly lineage: readonly TicketRejection[];
  readonly pr: TicketPullRequest | null;
  readonly merge: TicketMerge | null;
  /** What LORE submitted, until it has landed or was sent back. */
  readonly documentation: TicketDocumentation | null;
  readonly waitingOn: TicketWait;
  /** Milliseconds since the epoch: when it began to wait for that. */
  readonly since: number;
  readonly stop: TicketStop | null;
  /** Where an operator's `retry` goes on; set exactly while stopped. */
  readonly resumePhase: WorkPhase | null;
  readonly attempts: TicketAttempts;
  readonly workspaces: readonly TicketWorkspace[];
  /** Workspaces so far of each role that the ticket itself starts. */
  readonly workspaceGenerations: Readonly<Record<'forge' | 'lore', number>>;
  readonly appliedUpdates: readonly AppliedUpdate[];
  readonly history: readonly TicketHistoryEntry[];
}
