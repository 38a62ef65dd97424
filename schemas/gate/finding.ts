/** Findings and what later runs say of them. Both are immutable: a finding is answered, never edited. */
import { digestOf, sortedSet, type ContentDigest, type Digest } from '../digest.ts';
import type { EvidenceRef } from './references.ts';
import type { VerifierRuntime } from './run.ts';
import type { Causality, FindingDisposition, FindingType, Method, Severity, Standing } from './vocabulary.ts';

/** The ids that we give: nobody else's id has this form, and nobody else gives one. */
const FINDING_ID = /^f-[0-9a-f]{32}$/;

export function isFindingId(text: string): boolean {
  return FINDING_ID.test(text);
}

/** Lines of a file at an exact version; both ends included, 1 is the first. */
export interface LineRange {
  readonly resourceId: string;
  readonly path: string;
  readonly fromLine: number;
  readonly toLine: number;
  readonly digest: ContentDigest;
}

export interface Finding {
  readonly schema: 'portcullis/finding/v1';
  readonly tenant: string;
  readonly findingId: string;
  readonly version: number;
  readonly subjectDigest: Digest<'subject'>;
  readonly runId: string;
  readonly criterionId: string | null;
  /** Revision of the security requirement it rests on; `null` when it rests on none. */
  readonly securityRequirementRevision: number | null;
  readonly type: FindingType;
  readonly severity: Severity;
  /** Assigned by us (`standingOf`), whatever the reviewer asked for. */
  readonly standing: Standing;
  readonly causality: Causality;
  readonly location: LineRange | null;
  /** The part of the change that causes it; the break itself may be elsewhere, or be something missing. */
  readonly changedRange: LineRange | null;
  readonly failureScenario: string;
  readonly requiredFix: string;
  readonly evidenceRefs: readonly EvidenceRef[];
  readonly method: Method;
  readonly verifierRuntime: VerifierRuntime | null;
  readonly contextManifestDigest: Digest<'context-manifest'> | null;
  /** 0..100, advisory. The gate does not read it. */
  readonly confidence: number | null;
  readonly lineage: { readonly priorFindingId: string } | null;
  /** Milliseconds since the epoch, ours. */
  readonly observedAt: number;
}

export function orderedFinding(finding: Finding): Finding {
  return { ...finding, evidenceRefs: sortedSet(finding.evidenceRefs, (ref) => ref.id) };
}

export function findingDigest(finding: Finding): Digest<'finding'> {
  return digestOf('finding', orderedFinding(finding));
}

/** What one run says, on one exact subject, of a blocker that an earlier run raised. */
export interface DispositionRecord {
  readonly schema: 'portcullis/disposition/v1';
  readonly tenant: string;
  readonly dispositionId: string;
  readonly findingId: string;
  readonly findingDigest: Digest<'finding'>;
  readonly onSubjectDigest: Digest<'subject'>;
  readonly runId: string;
  readonly disposition: FindingDisposition;
  /** On the new subject; at least one for `resolved`. */
  readonly evidenceRefs: readonly EvidenceRef[];
  readonly reasonCode: string;
  /** The version that took the matter away; only with `superseded_by_subject_change`. */
  readonly supersededBy: string | null;
  readonly observedAt: number;
}

export function orderedDisposition(record: DispositionRecord): DispositionRecord {
  return { ...record, evidenceRefs: sortedSet(record.evidenceRefs, (ref) => ref.id) };
}
