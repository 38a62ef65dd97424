/** What the store keeps around evidence and decisions: entries of the append-only indexes, heads, and what was revoked. */
import type { ContentDigest, Digest } from '../digest.ts';
import type { EvidenceFamily } from '../keys.ts';
import type { GateDefinitionRef, GatePolicyRef } from './references.ts';
import type { GateKind } from './vocabulary.ts';

/** One entry of the index of a subject or of a check. The record itself is under its digest. */
export interface IndexEntry {
  readonly schema: 'portcullis/index-entry/v1';
  readonly family: EvidenceFamily;
  readonly digest: ContentDigest;
  /** What the record is of, as `run/r-1` or `result/2`: an index never has two of one name. */
  readonly name: string;
  /** Of a check's attempt or result; `null` for every other record. */
  readonly attempt: number | null;
}

/** One entry of a ticket's list of subjects. */
export interface TicketEntry {
  readonly schema: 'portcullis/ticket-entry/v1';
  readonly gate: GateKind;
  readonly subjectDigest: Digest<'subject'>;
}

/** The newest subject of a gate of a ticket, by execution generation and then by state revision. */
export interface SubjectHead {
  readonly schema: 'portcullis/subject-head/v1';
  readonly gate: GateKind;
  readonly subjectDigest: Digest<'subject'>;
  readonly executionId: string;
  readonly executionGeneration: number;
  readonly stateRevision: number;
}

/** Policy and definition that a gate applies now. */
export interface PolicyHead {
  readonly schema: 'portcullis/policy-head/v1';
  readonly gate: GateKind;
  readonly policy: GatePolicyRef;
  readonly definition: GateDefinitionRef;
}

/** Somebody or something may no longer be relied on. Never taken back: a new grant has a new revision. */
export interface RevocationRecord {
  readonly schema: 'portcullis/revocation/v1';
  /** `grant:id@revision` or `principal:id`. */
  readonly authority: string;
  readonly by: string;
}
