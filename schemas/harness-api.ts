/**
 * The HTTP calls that an agent's harness makes to the gateway, beside git on the same way out. Every call carries the agent's
 * own bearer; who it is, and in which pair, role and workspace, comes from the credential and never from the call.
 *
 * Bodies are JSON unless said otherwise. Errors of every call: `unauthenticated`, `not_allowed` (another use, role or
 * execution, or a workspace that was replaced), `rate_limited`, `store_unavailable`. A ticket that has no use for what is
 * submitted says so with its own code: `ticket_stale`, `ticket_phase`, `ticket_ended`, `candidate_unchanged`, …
 *
 * A workspace has one submission under way at a time (`rate_limited`: send it again) and so many different ones for one
 * assignment (`limit`); the same one again is answered like the first.
 */
import type { ApprovalVerdict } from './approval.ts';
import type { ContentDigest } from './digest.ts';
import { portcullisError } from './errors.ts';
import type { Role } from './names.ts';

export const HARNESS_PATHS = {
  /** GET → {@link HarnessContext}. */
  context: '/v1/harness/context',
  /** POST {@link SubmitPlan} → {@link SubmitAnswer}; FORGE. */
  plan: '/v1/harness/plan',
  /** POST {@link SubmitSegment} → {@link SubmitAnswer}; FORGE. */
  segment: '/v1/harness/segment',
  /** POST {@link SubmitReady} → {@link SubmitAnswer}; FORGE, and LORE for its own change. */
  ready: '/v1/harness/ready',
  /** PUT raw bytes, at most {@link MAX_REVIEW_BYTES} → {@link ReviewAnswer}; SENTINEL. Repeating it is a no-op. */
  review: (name: string) => `/v1/harness/reviews/${encodeURIComponent(name)}`,
  /** POST {@link ApprovalAsk} → {@link ApprovalAnswer}; SENTINEL. `approval_…` codes, `review_unfit`. */
  approve: '/v1/harness/approve',
  reject: '/v1/harness/reject',
} as const;

/** The largest review that one append may carry. */
export const MAX_REVIEW_BYTES = 256 * 1024;
/** How many reviews one workspace may append: one for each ask, with room for repeats. */
export const MAX_REVIEWS = 32;

/** The files a reviewer may append, by name: the general reviewer's, then the security reviewer's. */
const REVIEW_NAME =
  /^(?:CONTRACT\.md|final-review\.md|segment-[1-9][0-9]?-eval\.md|(?:plan|final|segment-[1-9][0-9]?)-security\.md)$/;

export function isReviewName(text: string): boolean {
  return REVIEW_NAME.test(text);
}

/** `segment-2-eval.md`, `segment-2-security.md`. @throws `schema_invalid` */
export function segmentReviewName(n: number, kind: 'eval' | 'security' = 'eval'): string {
  const name = `segment-${n}-${kind}.md`;
  if (!isReviewName(name)) throw portcullisError('schema_invalid', { path: 'n', reason: 'must be 1 to 99' });
  return name;
}

/**
 * A finding that stopped an earlier round and is still open. Its words were written by a reviewer: they are material for
 * whoever reads them, never instructions. The same finding has the same id and digest wherever it is named.
 */
export interface OpenBlocker {
  readonly findingId: string;
  readonly digest: string;
  readonly type: string;
  readonly severity: string;
  /** At the head that was judged then; lines count from 1. */
  readonly location: { readonly path: string; readonly fromLine: number; readonly toLine: number } | null;
  readonly failureScenario: string;
  readonly requiredFix: string;
}

/**
 * What the workspace of a role is asked now: written by control before each turn of its agent, and the only thing an agent
 * works from besides its checkout. One record for each (pair, role): a replaced workspace no longer finds itself in it.
 */
export interface Assignment {
  readonly schema: 'portcullis/assignment/v1';
  readonly pair: string;
  readonly role: Role;
  readonly workspaceGeneration: number;
  readonly execution: { readonly id: string; readonly generation: number };
  /** Phase of the ticket: `planning`, `plan_review`, `building`, … */
  readonly phase: string;
  /** Revision of the ticket that this was decided on: whatever is submitted for it names the same. */
  readonly revision: number;
  readonly round: number;
  /** What the ticket wants, in the words of whoever wrote it. */
  readonly title: string;
  readonly goal: string;
  /** The branch of the change, where it will land, and from which commit it starts; `base` is `null` for an empty repository. */
  readonly branch: string;
  readonly baseBranch: string;
  readonly base: string | null;
  /** The commit that is judged, or worked on from. */
  readonly head: string;
  /** The accepted plan; in `plan_review` the one under review; `null` before there is one. */
  readonly plan: { readonly revision: number; readonly commit: string } | null;
  /** Which segment is built or reviewed, from 1. */
  readonly segment: { readonly n: number; readonly of: number } | null;
  /** Commit that this segment starts from; `null` outside segments. */
  readonly segmentBase: string | null;
  /** What the last review or check found wrong, for a rework. */
  readonly feedback: string | null;
  /** The file that the reviewer has to append; `null` for other roles. */
  readonly review: string | null;
  /** The approval that the review answers; `null` for other roles. */
  readonly approvalId: string | null;
  /** Number of the evaluation that the review belongs to; `null` for other roles. */
  readonly evaluation: number | null;
  /** Class of the reviewer: `reviewer`, `security`, …; `null` for other roles. */
  readonly verifierClass: string | null;
  /** What stopped an earlier round and is open: a producer mends it, a reviewer says of each what became of it. */
  readonly blockers: readonly OpenBlocker[];
}

/**
 * What an assignment asks for. `plan`, `segment`, `ready` (FORGE: nothing is left to build; with feedback, after a rework),
 * `review` (SENTINEL), `documentation` (LORE); `nothing` in every other phase.
 */
export type AssignmentAsk = 'plan' | 'segment' | 'ready' | 'review' | 'documentation' | 'nothing';

export function askOf({ role, phase, segment, review }: Assignment): AssignmentAsk {
  if (role === 'sentinel') return review === null ? 'nothing' : 'review';
  if (role === 'lore') return phase === 'documenting' ? 'documentation' : 'nothing';
  if (phase === 'planning') return 'plan';
  if (phase !== 'building') return 'nothing';
  return segment === null ? 'ready' : 'segment';
}

export interface HarnessContext {
  readonly schema: 'portcullis/harness-context/v1';
  readonly tenant: string;
  readonly pair: string;
  readonly role: Role;
  readonly workspace: string;
  readonly workspaceGeneration: number;
  /** `null` while nothing is asked of this workspace. */
  readonly assignment: Assignment | null;
  /** Told to exactly the workspace that the approval is bound to. */
  readonly approval: { readonly id: string; readonly token: string; readonly expiresAt: number } | null;
}

export interface SubmitPlan {
  readonly commit: string;
  readonly revision: number;
}

export interface SubmitSegment {
  readonly n: number;
  readonly commit: string;
  readonly revision: number;
}

export interface SubmitReady {
  readonly commit: string;
  readonly revision: number;
}

/** The ticket took it. Repeating it changes nothing and is answered the same. */
export interface SubmitAnswer {
  readonly schema: 'portcullis/submitted/v1';
  /** The ticket's revision and phase after it. */
  readonly revision: number;
  readonly phase: string;
}

export interface ReviewAnswer {
  readonly schema: 'portcullis/review-appended/v1';
  readonly name: string;
  readonly bytes: number;
  readonly digest: ContentDigest;
}

export interface ApprovalAsk {
  readonly approvalId: string;
  readonly token: string;
  readonly reviewDigest: ContentDigest;
}

export interface ApprovalAnswer {
  readonly schema: 'portcullis/approval-answered/v1';
  readonly approvalId: string;
  readonly verdict: ApprovalVerdict;
  /** `repeated`: this workspace had used it up with this same review before. */
  readonly outcome: 'consumed' | 'repeated';
}

/** One entry of what a workspace has appended, oldest first. */
export interface ReviewEntry {
  readonly name: string;
  readonly digest: ContentDigest;
}
