/**
 * The activities around evidence and decisions: names, inputs, results. The control worker's are in `activities/evidence/`,
 * the gate worker's in `activities/gate/`. Every one is repeatable: the same step again adds nothing.
 *
 * How a verification uses them: `gateRequirements` → `registerSubject` → for each check `openAttempt`, dispatch, then
 * `recordCheck` → `preflightSubject` → `recordGrant`, the verifier, `recordRun`, `recordFindings`, `recordDispositions` → the
 * workflow `gate` → `decisionApplies` at the merge.
 */
import type { Digest } from '../digest.ts';
import type { CheckDefinition } from './check.ts';
import type { DecisionReason, SignedGateDecision } from './decision.ts';
import type { DispositionRecord, Finding } from './finding.ts';
import type { HumanDecision } from './human.ts';
import type { EvidenceRef, GateDefinitionRef, GatePolicyRef } from './references.ts';
import type { Grant } from './request.ts';
import type { VerificationRun } from './run.ts';
import type { SubjectManifest } from './subject.ts';
import type {
  Applicability,
  Attestation,
  CriterionStatus,
  GateDecisionWord,
  GateKind,
  Standing,
  UnavailableReason,
} from './vocabulary.ts';
import type { AuditAnchor, GateOutcome } from './workflow.ts';

export interface SubjectRef {
  readonly tenant: string;
  readonly subjectDigest: Digest<'subject'>;
}

export interface GateRef {
  readonly tenant: string;
  readonly gate: GateKind;
}

/** What the current policy of a gate asks for, so that a subject can be made that names exactly that. */
export interface GateRequirements {
  readonly policy: GatePolicyRef;
  readonly definition: GateDefinitionRef;
  readonly checks: readonly {
    readonly checkId: string;
    /** The weakest observer that can satisfy it. */
    readonly attestation: Attestation;
    /** Definitions that count as this check; a subject names one of them. */
    readonly accepts: readonly { readonly digest: Digest<'definition'>; readonly definition: CheckDefinition }[];
  }[];
  /** Verifier classes and people that a subject of any risk needs; a higher class may add more. */
  readonly verifierClasses: readonly { readonly class: string; readonly min: number }[];
  readonly humans: readonly { readonly role: string; readonly min: number }[];
}

export interface RegisteredSubject {
  readonly subjectDigest: Digest<'subject'>;
  readonly gate: GateKind;
  /** `false` when the ticket's execution has moved on or a newer subject of this gate is there: it is history. */
  readonly current: boolean;
}

/** Why a late record is kept as history only (`stale_write_rejected`): it is in no index and satisfies nothing. */
export const STALE_REASONS = ['execution_superseded', 'subject_superseded', 'grant_revoked', 'grant_expired'] as const;
export type StaleReason = (typeof STALE_REASONS)[number];

export type Recorded =
  | { readonly kind: 'recorded'; readonly digest: Digest<'evidence' | 'finding'> }
  | { readonly kind: 'stale'; readonly digest: Digest<'evidence' | 'finding'>; readonly reason: StaleReason };

export interface AttemptRequest extends SubjectRef {
  readonly checkId: string;
  /** What this attempt is for, one name for each dispatch (the id of the workflow and a count): repeating it opens nothing. */
  readonly dispatch: string;
}

export type OpenedAttempt =
  { readonly kind: 'opened'; readonly attempt: number } | { readonly kind: 'stale'; readonly reason: StaleReason };

/** How an attempt ended. */
export type CheckOutcome =
  /** A delegated verification of ours: its persisted result is read by its task, never handed in. */
  | { readonly by: 'verify'; readonly taskId: string }
  /** There is no answer, and why. Says nothing about the work. */
  | { readonly by: 'nobody'; readonly reason: UnavailableReason }
  /** The control plane looked itself (a `builtin` definition). */
  | { readonly by: 'control'; readonly status: CriterionStatus; readonly refs: readonly EvidenceRef[] };

export interface CheckRecord extends SubjectRef {
  readonly checkId: string;
  readonly attempt: number;
  readonly outcome: CheckOutcome;
}

export type RecordedCheck = Recorded & { readonly status: CriterionStatus };

/** A finding as filed: what we assign is left out, and `standing` is what the reviewer asked for. */
export type FiledFinding = Omit<
  Finding,
  'schema' | 'tenant' | 'subjectDigest' | 'runId' | 'standing' | 'observedAt'
> & {
  readonly standing: Standing;
};

export interface FindingsRecord extends SubjectRef {
  readonly runId: string;
  readonly findings: readonly FiledFinding[];
  /** Lines of the head that the change touches, from our own repository: what `blocking` may cite. */
  readonly changedLines: readonly { readonly path: string; readonly fromLine: number; readonly toLine: number }[];
  /** Milliseconds since the epoch, the workflow's: a retry gives the same bytes. */
  readonly observedAt: number;
}

export interface RecordedFindings {
  readonly findings: readonly (Recorded & { readonly findingId: string; readonly standing: Standing })[];
}

/** Every prior blocker that is not among these gets `not_addressed` from us and stays open. */
export interface DispositionsRecord extends SubjectRef {
  readonly runId: string;
  readonly dispositions: readonly Pick<
    DispositionRecord,
    'findingId' | 'disposition' | 'evidenceRefs' | 'reasonCode' | 'supersededBy'
  >[];
  readonly observedAt: number;
}

export interface PreflightAnswer {
  /** `false`: the evidence already decides, so no verifier is called. */
  readonly verifierNeeded: boolean;
  readonly hits: readonly Pick<DecisionReason, 'code' | 'ref'>[];
}

export interface DecisionRef {
  readonly tenant: string;
  readonly evaluationKey: Digest<'gate-evaluation'>;
}

/** Whether a decision counts now, and what it rests on. Derived at this read; never stored. */
export interface DecisionStanding {
  readonly evaluationKey: Digest<'gate-evaluation'>;
  readonly decisionDigest: Digest<'decision'>;
  readonly decision: GateDecisionWord;
  readonly gate: GateKind;
  readonly subjectDigest: Digest<'subject'>;
  readonly applicability: Applicability;
  /** Everything that moved, what is worst first; empty when it applies. */
  readonly moved: readonly Exclude<Applicability, 'applicable'>[];
  /** A pass that applies: the only thing that authorises anything. */
  readonly authorises: boolean;
  /** Milliseconds since the epoch, by the store's clock: when this was looked at. */
  readonly at: number;
  readonly validUntil: number | null;
  /** `authority:epoch` as read with it: read it again after a compare-and-set. */
  readonly epoch: number;
}

export interface Revocation {
  readonly tenant: string;
  /** As a decision names it: `grant:id@revision` or `principal:id`. */
  readonly authority: string;
  readonly by: string;
}

/** On the tenant's control queue. */
export interface EvidenceActivities {
  /** @throws `not_found` when no policy of this gate is registered */
  gateRequirements(of: GateRef): Promise<GateRequirements>;
  /** @throws `schema_invalid`, `policy_mismatch` when it does not name the registered policy and definition of its gate */
  registerSubject(of: { readonly tenant: string; readonly manifest: SubjectManifest }): Promise<RegisteredSubject>;
  /** Before the check is dispatched. @throws `not_found` for a check the subject does not name */
  openAttempt(request: AttemptRequest): Promise<OpenedAttempt>;
  /**
   * Closes an attempt, once. @throws `completed_unpersisted` while the verification's result is not persisted, `schema_invalid`
   * when the result is not of this check, head and execution, `state_conflict` when the attempt was closed otherwise
   */
  recordCheck(record: CheckRecord): Promise<RecordedCheck>;
  /** @throws `not_found` when the grant was never recorded, `not_allowed` when the grant is another's, `state_conflict` */
  recordRun(of: { readonly tenant: string; readonly run: VerificationRun }): Promise<Recorded>;
  recordFindings(record: FindingsRecord): Promise<RecordedFindings>;
  recordDispositions(record: DispositionsRecord): Promise<readonly Recorded[]>;
  recordHumanDecision(of: { readonly tenant: string; readonly decision: HumanDecision }): Promise<Recorded>;
  /** @throws `state_conflict` when that revision is there with other content */
  recordGrant(of: { readonly tenant: string; readonly grant: Grant }): Promise<void>;
  /** Raises `authority:epoch`. What was decided on it is `revoked` from now on. */
  revokeAuthority(revocation: Revocation): Promise<void>;
  /** Whether calling a verifier can still matter. */
  preflightSubject(subject: SubjectRef): Promise<PreflightAnswer>;
  readDecision(of: DecisionRef): Promise<SignedGateDecision | null>;
  /** @throws `not_found`, `store_unavailable`: what cannot be read applies to nothing */
  decisionApplies(of: DecisionRef): Promise<DecisionStanding>;
}

export interface EvaluationRequest {
  readonly tenant: string;
  readonly kind: GateKind;
  readonly subjectDigest: Digest<'subject'>;
  /** Number of the evaluation, as in the workflow's id: it is entered as requested once. */
  readonly n: number;
}

export interface EvaluatedSubject extends GateOutcome {
  /** Where the audit chain stood with this decision in it. */
  readonly anchor: AuditAnchor;
}

/** On the tenant's gate queue: the only process that can write a decision. */
export interface GateActivities {
  /**
   * @throws `kill_switch`, `not_found` (no such subject, or its policy was never registered), `schema_invalid` when the subject is
   * of another gate, `record_unreadable` for a subject or policy whose bytes are not what its digest says, `signature_invalid`
   * when a decision of this evaluation is there that this worker did not sign
   */
  evaluateSubject(request: EvaluationRequest): Promise<EvaluatedSubject>;
  /** Signs where the chain stands; `null` when it has grown by fewer than `minimum` entries beyond `after`. */
  anchorAudit(of: {
    readonly tenant: string;
    readonly after: number;
    readonly minimum: number;
  }): Promise<AuditAnchor | null>;
}
