/** A person's decision: evidence like any other, never a move of a phase. */
import { canonicalBytes } from '../canonical.ts';
import { contentDigest, type ContentDigest, type Digest } from '../digest.ts';
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

/** Characters of a person's reason. */
export const REASON_LIMIT = 2_000;

/** What a person says, as they say it. Who they are, and what else the record holds, is the control plane's to know. */
export interface HumanAnswerGiven {
  readonly gate: GateKind;
  /** What they looked at. */
  readonly subjectDigest: Digest<'subject'>;
  readonly decision: HumanAnswer;
  readonly case: OverridableCase | null;
  /** In their words; kept as a record of its own. */
  readonly reason: string;
  /** Milliseconds since the epoch; `null` when it does not end. */
  readonly expiresAt: number | null;
}

/** `reason:{digest}`: a person's words, under the digest of their own bytes. */
export interface ReasonRecord {
  readonly schema: 'portcullis/reason/v1';
  readonly text: string;
}

export function reasonDigest(reason: ReasonRecord): ContentDigest {
  return contentDigest(canonicalBytes(reason));
}
