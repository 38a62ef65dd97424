/**
 * The approval of one review (spec/tickets.md, Approval token). Control writes the binding when a ticket enters a review; the
 * workspace that it names is told the approval's id and token; who answers first with a review that says the same uses it up.
 */
import { canonicalBytes } from './canonical.ts';
import { contentDigest, digestHex, type ContentDigest } from './digest.ts';

export interface ApprovalBinding {
  readonly schema: 'portcullis/approval/v1';
  /** {@link approvalId} of the rest. */
  readonly id: string;
  readonly tenant: string;
  /** Ticket and pair: their ids are equal. */
  readonly ticket: string;
  readonly execution: { readonly id: string; readonly generation: number };
  /** The reviewing phase: `plan_review`, `segment_review`, `review_ready`. */
  readonly phase: string;
  readonly planRevision: number;
  /** Number of the ticket's evaluation that the review belongs to. */
  readonly evaluation: number;
  readonly round: number;
  /** Commit that is judged. */
  readonly head: string;
  /** Workspace generation of the one SENTINEL that may answer. */
  readonly workspaceGeneration: number;
  /** Name of the one file that it answers for: two reviewers of one change answer for their own. */
  readonly review: string;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly expiresAt: number;
}

export type ApprovalVerdict = 'APPROVED' | 'REJECTED';

/** Who used an approval up, and with what. */
export interface ApprovalUse {
  readonly schema: 'portcullis/approval-use/v1';
  readonly id: string;
  /** Credential. */
  readonly by: string;
  readonly verdict: ApprovalVerdict;
  /** Digest of the bytes that were appended as the review. */
  readonly reviewDigest: ContentDigest;
}

/**
 * The id of a binding: the same for a mint that is repeated, another for another plan, round or head. It is no secret; only
 * the gateway can make the token that goes with it. The expiry is left out, so that a retry which reads the clock again
 * does not mint twice.
 */
export function approvalId(binding: Omit<ApprovalBinding, 'schema' | 'id' | 'expiresAt'>): string {
  const { tenant, ticket, execution, phase, planRevision, evaluation, round, head, workspaceGeneration, review } =
    binding;
  const bound = {
    tenant,
    ticket,
    execution,
    phase,
    planRevision,
    evaluation,
    round,
    head,
    workspaceGeneration,
    review,
  };
  return digestHex(contentDigest(canonicalBytes(bound)));
}
