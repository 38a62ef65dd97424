/** The closed sets of the gate (spec/gate.md section 1). Two of these words are never the same type. */

/** What is said about one criterion, or by one attempt of a check. */
export const CRITERION_STATUSES = [
  /** Judged, and it holds. Needs evidence. */
  'passed',
  /** Judged, and it does not hold. */
  'failed',
  /** Looked at, and it cannot be told. */
  'inconclusive',
  /** Not looked at: skipped, neutral, nothing executed. */
  'not_tested',
] as const;
export type CriterionStatus = (typeof CRITERION_STATUSES)[number];

/** What one verification run came to, computed by us from its rows, never by the verifier. */
export const RUN_DISPOSITIONS = [
  'passed',
  'failed',
  'inconclusive',
  /** Admission refused it: it never ran. */
  'blocked',
  /** Every open row can only be answered by a person. */
  'needs_human_review',
] as const;
export type RunDisposition = (typeof RUN_DISPOSITIONS)[number];

/** Why a run or an attempt has no answer. None of these says anything about the work. */
export const UNAVAILABLE_REASONS = [
  'provider_error',
  'timeout',
  'budget_exhausted',
  'context_truncated',
  'grant_revoked',
  'cancelled',
  'malformed_output',
  'subject_superseded',
  'executor_unavailable',
  'unpersisted',
] as const;
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

export const GATE_DECISIONS = [
  /** Everything required is there and nothing speaks against it. */
  'pass',
  /** Judged, not good: back to the producer. */
  'rework',
  /** Only a person can say. */
  'human_required',
  /** Cannot be judged. */
  'blocked',
] as const;
export type GateDecisionWord = (typeof GATE_DECISIONS)[number];

/** What a later run says of a blocker that an earlier one raised. */
export const FINDING_DISPOSITIONS = [
  /** Gone, shown by evidence on the new subject. */
  'resolved',
  'still_present',
  /** The change took away what it was about; needs a reason and a version. */
  'superseded_by_subject_change',
  'human_required',
  /** Written by us when a run did not mention it: it stays open. */
  'not_addressed',
] as const;
export type FindingDisposition = (typeof FINDING_DISPOSITIONS)[number];

/** Whether a decision counts now. Derived at each read, never stored. */
export const APPLICABILITIES = [
  'applicable',
  'subject_superseded',
  'execution_superseded',
  'policy_superseded',
  'expired',
  /** A negative entry came after it, or a second evaluator disagreed. */
  'contradicted',
  'revoked',
  'evidence_tampered',
] as const;
export type Applicability = (typeof APPLICABILITIES)[number];

/** What a gate stands before. */
export const GATE_KINDS = ['plan', 'segment', 'merge', 'operation'] as const;
export type GateKind = (typeof GATE_KINDS)[number];

export const METHODS = ['deterministic', 'model', 'human'] as const;
export type Method = (typeof METHODS)[number];

/** Who observed a check, weakest first. A producer's own executor can fail a check and never satisfy one. */
export const ATTESTATIONS = ['producer', 'verifier', 'control'] as const;
export type Attestation = (typeof ATTESTATIONS)[number];

/** Lowest first; it comes from the resource's pinned rule, never from what the producer says. */
export const RISK_CLASSES = ['low', 'moderate', 'high', 'critical'] as const;
export type RiskClass = (typeof RISK_CLASSES)[number];

export const FINDING_TYPES = [
  'correctness',
  'security',
  'data_loss',
  'compatibility',
  'performance',
  'test_gap',
  'maintainability',
  'documentation',
] as const;
export type FindingType = (typeof FINDING_TYPES)[number];

export const SEVERITIES = ['blocker', 'high', 'medium', 'low', 'nit'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const STANDINGS = [
  /** Stops this gate. */
  'blocking',
  /** Handed to the producer, stops nothing. */
  'advisory',
  /** Not of this change: kept and listed for triage, never in a rework hand-off. */
  'adjacent',
] as const;
export type Standing = (typeof STANDINGS)[number];

export const CAUSALITIES = ['introduced', 'exposed', 'worsened', 'pre_existing'] as const;
export type Causality = (typeof CAUSALITIES)[number];

export const HUMAN_ANSWERS = [
  'approve',
  'reject',
  /** Removes the hits of one case that the policy lists; the hits stay recorded. */
  'override',
] as const;
export type HumanAnswer = (typeof HUMAN_ANSWERS)[number];

/** The cases of the evaluation, in order of precedence (spec/gate.md section 5): the first that is hit decides. */
export const GATE_CASES = [
  'integrity',
  'hard_failure',
  'security_failure',
  'contradiction',
  'open_blocker',
  'missing',
  'inconclusive',
  'definition_changed',
  'human_absent',
] as const;
export type GateCase = (typeof GATE_CASES)[number];

/** The only cases a policy may let people override: 4, 5, 7 and 8. */
export const OVERRIDABLE_CASES = [
  'contradiction',
  'open_blocker',
  'inconclusive',
  'definition_changed',
] as const satisfies readonly GateCase[];
export type OverridableCase = (typeof OVERRIDABLE_CASES)[number];

/** The verifier class whose failing row is a security-class failure. */
export const SECURITY_CLASS = 'security';
