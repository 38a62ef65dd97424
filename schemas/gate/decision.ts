/** The decision: what the evaluator said about one subject, one evidence set and one policy. Never edited. */
import { digestOf, type Digest } from '../digest.ts';
import type { GateDefinitionRef, GatePolicyRef } from './references.ts';
import type { GateCase, GateDecisionWord, GateKind } from './vocabulary.ts';

/** One hit of the evaluation. All are recorded; the first case decides. */
export interface DecisionReason {
  readonly case: GateCase;
  /** Stable; the sentence for it is in `policies/gates/reasons.ts`. */
  readonly code: string;
  /** What it is about: a check, a criterion, a finding, a role, a digest. */
  readonly ref: string;
  /** Removed by people under the policy's `overrides`; it stays listed. */
  readonly overridden: boolean;
}

/** How far an append-only index had grown when it was read. What comes later is what applicability looks at. */
export interface IndexLength {
  readonly index: string;
  readonly length: number;
}

/** Reasons that a record lists. */
export const REASON_LIMIT = 1000;

export interface GateDecision {
  readonly schema: 'portcullis/gate-decision/v1';
  readonly tenant: string;
  readonly gate: GateKind;
  readonly subjectDigest: Digest<'subject'>;
  readonly executionId: string;
  readonly executionGeneration: number;
  readonly evidenceSetDigest: Digest<'evidence-set'>;
  readonly policy: GatePolicyRef;
  readonly definition: GateDefinitionRef;
  readonly evaluatorVersion: string;
  readonly evaluationKey: Digest<'gate-evaluation'>;
  readonly decision: GateDecisionWord;
  /** The first {@link REASON_LIMIT} by case, code and reference: the deciding ones come first. */
  readonly reasons: readonly DecisionReason[];
  /** How many more there were. */
  readonly reasonsOmitted: number;
  /** Milliseconds since the epoch: the first writer's. */
  readonly asOf: number;
  /** Earliest end of what is time-sensitive, expired at equality; `null` when nothing is. */
  readonly validUntil: number | null;
  /** What a pass rests on, as `grant:id@revision` and `principal:id`: revoking one revokes it. Empty on any other decision. */
  readonly authorities: readonly string[];
  readonly indexes: readonly IndexLength[];
}

export interface SignedGateDecision {
  readonly decision: GateDecision;
  readonly digest: Digest<'decision'>;
  /** Ed25519 over the digest's text by the gate worker, base64. */
  readonly signature: string;
  readonly keyId: string;
}

export function decisionDigest(decision: GateDecision): Digest<'decision'> {
  return digestOf('decision', decision);
}

/** Everything that makes two evaluations the same one. `asOf` is not in it: the first writer's counts. */
export interface EvaluationInputs {
  readonly subject: Digest<'subject'>;
  readonly evidenceSet: Digest<'evidence-set'>;
  readonly policy: Digest<'policy'>;
  readonly definition: Digest<'gate-definition'>;
  readonly evaluatorVersion: string;
}

export function evaluationKey(inputs: EvaluationInputs): Digest<'gate-evaluation'> {
  return digestOf('gate-evaluation', { schema: 'portcullis/gate-evaluation/v1', ...inputs });
}
