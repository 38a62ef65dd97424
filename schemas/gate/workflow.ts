/**
 * What the starter of a `gate` and the workflow agree on (spec/gate.md section 5). It is short: one activity on the gate
 * worker's own queue assembles the evidence from the indexes, evaluates, signs and writes once. Consumers read that record.
 */
import type { AuditHead } from '../audit.ts';
import type { Digest } from '../digest.ts';
import type { DecisionReason } from './decision.ts';
import type { GateDecisionWord, GateKind } from './vocabulary.ts';

/** Workflow types, as registered with Temporal. */
export const GATE_WORKFLOWS = { gate: 'gate', anchor: 'anchor' } as const;

/** Argument of `gate` (id `gateWorkflowId`); start it on the tenant's control queue. */
export interface GateInput {
  readonly tenant: string;
  readonly kind: GateKind;
  readonly subjectDigest: Digest<'subject'>;
  /** Counts the evaluations of this subject and kind from 1: the last part of the workflow id. */
  readonly n: number;
}

/**
 * What `gate` returns, for whoever routes on it at once and for the operator's eye. Before anything is relied on, ask
 * `decisionApplies`: this value is never looked at again.
 */
export interface GateOutcome {
  readonly evaluationKey: Digest<'gate-evaluation'>;
  readonly decisionDigest: Digest<'decision'>;
  readonly decision: GateDecisionWord;
  /** The first {@link OUTCOME_REASONS}: the deciding ones come first. */
  readonly reasons: readonly DecisionReason[];
  /** How many more the record has. */
  readonly reasonsOmitted: number;
  /** Ids of all findings that it leaves open, whatever is omitted; absent in outcomes from before it was there. */
  readonly openFindings?: readonly string[];
}

/** Reasons that a workflow's result carries; the record has up to a thousand. */
export const OUTCOME_REASONS = 20;

/** Where the audit chain stood, signed by the gate worker and kept in Temporal's history. */
export interface AuditAnchor {
  readonly schema: 'portcullis/audit-anchor/v1';
  readonly tenant: string;
  readonly head: AuditHead;
  /** Ed25519 over `anchor NUL tenant NUL n NUL digest`, base64. */
  readonly signature: string;
  readonly keyId: string;
}

/** Argument of `anchor`, which a Schedule starts. */
export interface AnchorInput {
  readonly tenant: string;
}

/** What one round of `anchor` hands to the next: the newest anchor there is. */
export interface AnchorOutcome {
  readonly anchor: AuditAnchor | null;
}

/** The chain is anchored again when it has grown by so many entries (and at each decision). */
export const ANCHOR_EVERY = 100;
