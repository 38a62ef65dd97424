/** A person's decision: evidence like any other, never a move of a phase. */
import type { Digest } from '../digest.ts';
import type { EvidenceRef, Principal } from './references.ts';
import type { GateKind, HumanAnswer, OverridableCase } from './vocabulary.ts';

export interface HumanDecision {
  readonly schema: 'portcullis/human-decision/v1';
  readonly tenant: string;
  readonly decisionId: string;
  readonly subjectDigest: Digest<'subject'>;
  readonly gate: GateKind;
  readonly policyRevision: number;
  readonly principal: Principal;
  readonly role: string;
  readonly decision: HumanAnswer;
  /** The case that an override removes; `null` for the other answers. */
  readonly case: OverridableCase | null;
  /** Where the person's words are. */
  readonly reason: EvidenceRef;
  /** The person also produced what is judged, and says so. */
  readonly selfReview: boolean;
  /** Milliseconds since the epoch, expired at equality; `null` when it does not end. A rejection never ends. */
  readonly expiresAt: number | null;
  readonly observedAt: number;
}
