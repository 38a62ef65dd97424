/**
 * The activities of the verification workflow beside those of evidence (`schemas/gate/activities.ts`): what is to be run, how a
 * run is admitted, what the reviewer is asked and what it appended. Every one is repeatable. Implemented in
 * `activities/verification/`.
 */
import type { ContentDigest, Digest } from '../digest.ts';
import type { CheckDefinition } from '../gate/check.ts';
import type { EvidenceRef } from '../gate/references.ts';
import type { CriterionStatus } from '../gate/vocabulary.ts';
import type { VerdictRoute } from '../verdict.ts';
import type { VerifyInput } from '../verify/workflow.ts';
import type { SubjectActivities, SubjectParameters } from './workflow.ts';

export interface PlannedCheck {
  readonly checkId: string;
  readonly definition: CheckDefinition;
  /** What stands of what this head and execution already have, passed or failed: it is not run again. Anything else is. */
  readonly answer: { readonly status: CriterionStatus; readonly evidence: string } | null;
}

export interface CheckPlanRequest {
  readonly tenant: string;
  readonly subjectDigest: Digest<'subject'>;
}

/** What must be readable before anything is judged. */
export interface ArtifactsAnswer {
  /** Path of the first thing that is missing; `null` when all is there. */
  readonly missing: string | null;
}

export interface BuiltinRequest {
  readonly parameters: SubjectParameters;
  readonly checkId: string;
  readonly name: string;
}

export interface BuiltinAnswer {
  readonly status: CriterionStatus;
  readonly refs: readonly EvidenceRef[];
}

/** One attempt of a command check, to be run by the pair's `verifier` executor. */
export interface CheckAdmission {
  readonly parameters: SubjectParameters;
  readonly checkId: string;
  readonly definition: CheckDefinition;
  readonly attempt: number;
  /** Id of the asking workflow: the principal of the request. */
  readonly askedBy: string;
}

/** `started`: run `verify` with this input under its own id. `ended`: an earlier try of this step had it run to its end. */
export type AdmittedCheck =
  | { readonly kind: 'run'; readonly workflowId: string; readonly input: VerifyInput }
  | { readonly kind: 'joined'; readonly taskId: string };

export interface ReviewSeatRef {
  readonly tenant: string;
  readonly ticket: string;
  /** Of the SENTINEL. */
  readonly workspaceGeneration: number;
}

/** One reviewer that the subject's policy requires. */
export interface PlannedReview {
  readonly verifierClass: string;
  /** Which of its class, from 1. */
  readonly seat: number;
}

export interface ReviewOpening {
  readonly parameters: SubjectParameters;
  readonly subjectDigest: Digest<'subject'>;
  readonly n: number;
  readonly review: PlannedReview;
  readonly workspaceGeneration: number;
  /** Milliseconds since the epoch: when the approval and the grant end. */
  readonly expiresAt: number;
}

export interface OpenedReview {
  /** File that the reviewer has to append. */
  readonly name: string;
  readonly approvalId: string;
  readonly grant: { readonly id: string; readonly revision: number };
  /** Blockers of the subject, in order: the reviewer says of each what became of it. */
  readonly priorBlockers: readonly { readonly findingId: string; readonly digest: string }[];
}

/** The approval of one review. */
export interface ApprovalRef {
  readonly tenant: string;
  readonly ticket: string;
  readonly approvalId: string;
}

export interface ReviewRequest extends ReviewSeatRef {
  readonly name: string;
}

/** The newest append of that name, and what it says to the machine. */
export type ReviewReading =
  | { readonly found: false }
  | {
      readonly found: true;
      readonly digest: ContentDigest;
      readonly route: VerdictRoute;
      readonly verdict: 'APPROVED' | 'REJECTED' | 'UNPARSEABLE';
      readonly failureClass: string | null;
      /** What to tell the reviewer; only with `UNPARSEABLE`. */
      readonly reask: string | null;
    };

/** How a review ended, for the record of the run. */
export type ReviewEnding =
  | { readonly state: 'answered'; readonly reading: Extract<ReviewReading, { readonly found: true }> }
  | { readonly state: 'unavailable'; readonly reason: 'provider_error' | 'timeout' | 'malformed_output' | 'cancelled' };

export interface ReviewConclusion {
  readonly opening: ReviewOpening;
  readonly opened: OpenedReview;
  readonly runId: string;
  readonly ending: ReviewEnding;
  /** Checks that have an answer, by id: rows that no model may judge rest on them. */
  readonly checks: readonly { readonly checkId: string; readonly status: CriterionStatus; readonly evidence: string }[];
  /** Milliseconds since the epoch, the workflow's: a retry makes the same record. */
  readonly at: number;
}

export interface ConcludedReview {
  /** Evidence digests and the commit of the review. */
  readonly refs: readonly string[];
  /** Ids of the findings of this review that block. */
  readonly blocking: readonly string[];
  readonly stale: boolean;
}

export interface VerificationActivities extends SubjectActivities {
  /** Whether PLAN.md and the diff can be read: an empty or unreadable one is never judged. */
  requireArtifacts(parameters: SubjectParameters): Promise<ArtifactsAnswer>;
  /** The checks that the subject names, with what each runs. */
  planChecks(request: CheckPlanRequest): Promise<readonly PlannedCheck[]>;
  /** What the control plane sees for itself. */
  observeBuiltin(request: BuiltinRequest): Promise<BuiltinAnswer>;
  /** Claims and records the request; nothing is dispatched by it. @throws `kill_switch`, `not_found`, `executor_unavailable`, `store_full`, and the reasons of the command policy */
  admitCheck(admission: CheckAdmission): Promise<AdmittedCheck>;
  /** Resolves when the task has ended and its result is kept. Heartbeats. */
  awaitTask(of: { readonly tenant: string; readonly taskId: string }): Promise<void>;
  /** The reviewers that the subject's policy requires, at least one. @throws `not_found`, `limit` */
  planReviews(request: CheckPlanRequest): Promise<readonly PlannedReview[]>;
  /** Mints the approval, records the grant, and says what the SENTINEL of that generation is asked. */
  openReview(opening: ReviewOpening): Promise<OpenedReview>;
  readReview(request: ReviewRequest): Promise<ReviewReading>;
  /**
   * The review into git; the run, its findings and what it says of each prior blocker into the index, in that order. The approval
   * counts no longer.
   */
  concludeReview(conclusion: ReviewConclusion): Promise<ConcludedReview>;
  /** Of a review that is cut short: its approval counts no longer, and whether it was used is entered in the audit chain. */
  abandonReview(of: ApprovalRef): Promise<void>;
}
