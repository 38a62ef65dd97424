/**
 * The subject manifest: the one exact thing a gate judges. Any change of a material input is another subject with another
 * digest; results are not inputs, so a rerun does not make one (spec/gate.md section 3).
 */
import { digestOf, sortedSet, type ContentDigest, type Digest } from '../digest.ts';
import type { GateDefinitionRef, GatePolicyRef, Principal } from './references.ts';
import type { Method, RiskClass } from './vocabulary.ts';

export interface SubjectCriterion {
  /** Ours; text never identifies a criterion. */
  readonly criterionId: string;
  readonly revision: number;
  readonly required: boolean;
  /** By which a `passed` counts. */
  readonly methods: readonly Method[];
}

export interface SubjectCheck {
  readonly checkId: string;
  readonly definitionDigest: Digest<'definition'>;
  /** What it claims can stop being true while its bytes stay the same (a scan, a remote status). */
  readonly timeSensitive: boolean;
  /** How long an observation holds; `null` exactly when it is not time-sensitive. */
  readonly horizonSeconds: number | null;
}

export interface SubjectManifest {
  readonly schema: 'portcullis/subject/v1';
  readonly tenant: string;
  /** The ticket. */
  readonly missionId: string;
  readonly executionId: string;
  readonly executionGeneration: number;
  readonly stateRevision: number;
  readonly workPackage: { readonly id: string; readonly revision: number } | null;
  readonly operation: { readonly id: string; readonly version: string } | null;
  readonly producer: {
    readonly principal: Principal;
    readonly runId: string;
    readonly resultId: string;
    readonly resultDigest: ContentDigest;
  };
  readonly objective: { readonly revision: number; readonly digest: ContentDigest };
  readonly criteria: {
    readonly revision: number;
    readonly digest: ContentDigest;
    readonly items: readonly SubjectCriterion[];
  };
  readonly resources: readonly {
    readonly resourceId: string;
    readonly kind: string;
    readonly bindingRevision: number;
    readonly classification: string;
    readonly version: string;
    readonly digest: ContentDigest;
  }[];
  readonly artifacts: readonly {
    readonly artifactId: string;
    readonly revision: number;
    readonly mediaType: string;
    readonly digest: ContentDigest;
    /** Bytes. */
    readonly size: number;
  }[];
  /** Commit ids or digests; `null` for a subject that changes no repository. */
  readonly change: {
    /** `null` when there is nothing before it. */
    readonly baseDigest: string | null;
    readonly headDigest: string;
    readonly diffDigest: ContentDigest;
  } | null;
  /** The checks that are required, not their results. */
  readonly requiredChecks: readonly SubjectCheck[];
  readonly gatePolicy: GatePolicyRef;
  readonly gateDefinition: GateDefinitionRef;
  readonly workflowRevision: string;
  /** Digest of the role registry. */
  readonly workforceRevision: ContentDigest;
  readonly risk: { readonly class: RiskClass; readonly securityRequirementRevision: number };
  readonly priorBlockers: readonly { readonly findingId: string; readonly digest: Digest<'finding'> }[];
  readonly requestSchemaVersion: number;
}

/** The manifest with each set in order: what is stored, and what the digest is over. @throws `canonical_unsupported` on a repeat */
export function orderedSubject(subject: SubjectManifest): SubjectManifest {
  return {
    ...subject,
    criteria: {
      ...subject.criteria,
      items: sortedSet(subject.criteria.items, (item) => item.criterionId).map((item) => ({
        ...item,
        methods: sortedSet(item.methods, (method) => method),
      })),
    },
    resources: sortedSet(subject.resources, (resource) => resource.resourceId),
    artifacts: sortedSet(subject.artifacts, (artifact) => artifact.artifactId),
    requiredChecks: sortedSet(subject.requiredChecks, (check) => check.checkId),
    priorBlockers: sortedSet(subject.priorBlockers, (blocker) => blocker.findingId),
  };
}

export function subjectDigest(subject: SubjectManifest): Digest<'subject'> {
  return digestOf('subject', orderedSubject(subject));
}

/** What a check of this subject is bound to: the head of its change, or the bytes of its result. */
export function headOf(subject: SubjectManifest): string {
  return subject.change?.headDigest ?? subject.producer.resultDigest;
}
