/** Gate policies and definitions: closed data from the trusted directory, at a pinned revision, never from the subject. */
import { digestOf, sortedSet, type Digest } from '../digest.ts';
import type { GatePolicyRef } from './references.ts';
import type { Attestation, GateKind, OverridableCase, RiskClass } from './vocabulary.ts';

/** What one check has to show. */
export interface CheckRule {
  readonly checkId: string;
  /** `security`: its failure is a security-class failure. */
  readonly class: 'ordinary' | 'security';
  /** Definitions that count as this check. */
  readonly definitionDigestIn: readonly Digest<'definition'>[];
  /** The weakest observer that can satisfy it. */
  readonly attestation: Attestation;
  readonly minExecuted: number;
  readonly maxSkipped: number;
  /** A changed definition file is a hit of case 8. */
  readonly definitionsUnchanged: boolean;
  /** How many attempts without an answer a completed one may outweigh. */
  readonly maxUnanswered: number;
}

/** So many verifiers of a class, each another principal. */
export interface VerifierRule {
  readonly class: string;
  readonly min: number;
}

/** So many people of a role, each another principal. */
export interface HumanRule {
  readonly role: string;
  readonly min: number;
  /** Whether the producer's own approval counts, when it says that it is one. */
  readonly selfReview: boolean;
}

/** What more is asked from this risk class upwards. */
export interface RiskRule {
  readonly class: RiskClass;
  readonly requiredChecks: readonly CheckRule[];
  readonly verifierClasses: readonly VerifierRule[];
  readonly humans: readonly HumanRule[];
}

export const FAILURE_OUTCOMES = ['rework', 'human_required', 'blocked'] as const;
export type FailureOutcome = (typeof FAILURE_OUTCOMES)[number];
/** What cannot be told is never the producer's to rework. */
export const DOUBT_OUTCOMES = ['human_required', 'blocked'] as const;
export type DoubtOutcome = (typeof DOUBT_OUTCOMES)[number];

/** What each kind of hit comes to. Every key is mandatory and none can be `pass`. */
export interface GateMapping {
  readonly hardFailure: FailureOutcome;
  readonly securityFailure: FailureOutcome;
  readonly contradiction: DoubtOutcome;
  readonly unstable: DoubtOutcome;
  readonly inconclusive: DoubtOutcome;
  readonly notTested: DoubtOutcome;
  readonly unavailable: DoubtOutcome;
  readonly definitionChanged: FailureOutcome;
}

export interface OverrideRule {
  readonly case: OverridableCase;
  readonly role: string;
  readonly min: number;
}

export interface GatePolicy {
  readonly schema: 'portcullis/gate-policy/v1';
  readonly id: string;
  readonly revision: number;
  readonly requiredChecks: readonly CheckRule[];
  /** `manifest`: those the subject marks as required. `all`: every criterion of the subject. */
  readonly requiredCriteria: 'manifest' | 'all';
  readonly verifierClasses: readonly VerifierRule[];
  readonly humans: readonly HumanRule[];
  readonly riskRules: readonly RiskRule[];
  readonly mapping: GateMapping;
  readonly overrides: readonly OverrideRule[];
  /** Nothing is carried over from another subject or execution. */
  readonly reuse: 'none';
}

const orderedChecks = (rules: readonly CheckRule[]): readonly CheckRule[] =>
  sortedSet(rules, (rule) => rule.checkId).map((rule) => ({
    ...rule,
    definitionDigestIn: sortedSet(rule.definitionDigestIn, (digest) => digest),
  }));

/** The policy with its sets in order: what is stored and digested. @throws `canonical_unsupported` on a repeat */
export function orderedPolicy(policy: GatePolicy): GatePolicy {
  return {
    ...policy,
    requiredChecks: orderedChecks(policy.requiredChecks),
    verifierClasses: sortedSet(policy.verifierClasses, (rule) => rule.class),
    humans: sortedSet(policy.humans, (rule) => rule.role),
    riskRules: sortedSet(policy.riskRules, (rule) => rule.class).map((rule) => ({
      ...rule,
      requiredChecks: orderedChecks(rule.requiredChecks),
      verifierClasses: sortedSet(rule.verifierClasses, (more) => more.class),
      humans: sortedSet(rule.humans, (more) => more.role),
    })),
    overrides: sortedSet(policy.overrides, (rule) => rule.case),
  };
}

export function gatePolicyDigest(policy: GatePolicy): Digest<'policy'> {
  return digestOf('policy', orderedPolicy(policy));
}

/** Which policy a gate kind applies, and the evaluator that reads it. */
export interface GateDefinition {
  readonly schema: 'portcullis/gate-definition/v1';
  readonly id: string;
  readonly revision: number;
  readonly gate: GateKind;
  readonly policy: GatePolicyRef;
  readonly evaluatorVersion: string;
}

export function gateDefinitionDigest(definition: GateDefinition): Digest<'gate-definition'> {
  return digestOf('gate-definition', definition);
}
