/** Everything the indexes list for a subject. The gate worker assembles it; nobody hands it in. */
import { CANONICAL_LIMITS } from '../canonical.ts';
import { digestOf, sortedSet, type Digest } from '../digest.ts';
import { orderedCheckResult, type CheckAttempt, type CheckResult } from './check.ts';
import { findingDigest, orderedDisposition, type DispositionRecord, type Finding } from './finding.ts';
import type { HumanDecision } from './human.ts';
import { orderedRun, type VerificationRun } from './run.ts';

export type EvidenceRecord = CheckAttempt | CheckResult | VerificationRun | Finding | DispositionRecord | HumanDecision;

/** What was wrong with a record that an index lists. */
export const EVIDENCE_PROBLEMS = [
  /** The index names it and the store has nothing under that name. */
  'missing',
  /** Its bytes do not give the digest that the index names. */
  'tampered',
  /** It does not follow its schema. */
  'malformed',
] as const;
export type EvidenceProblem = (typeof EVIDENCE_PROBLEMS)[number];

export type EvidenceItem =
  | { readonly digest: Digest<'evidence' | 'finding'>; readonly record: EvidenceRecord; readonly problem: null }
  | { readonly digest: Digest<'evidence' | 'finding'>; readonly record: null; readonly problem: EvidenceProblem };

export interface EvidenceSet {
  readonly digest: Digest<'evidence-set'>;
  /** In order of digest, each once. */
  readonly items: readonly EvidenceItem[];
}

/** The record with its sets in order: what is stored and digested. @throws `canonical_unsupported` */
export function orderedEvidence(record: EvidenceRecord): EvidenceRecord {
  switch (record.schema) {
    case 'portcullis/check-result/v1':
      return orderedCheckResult(record);
    case 'portcullis/verification-run/v1':
      return orderedRun(record);
    case 'portcullis/disposition/v1':
      return orderedDisposition(record);
    case 'portcullis/finding/v1':
      return { ...record, evidenceRefs: sortedSet(record.evidenceRefs, (ref) => ref.id) };
    case 'portcullis/check-attempt/v1':
    case 'portcullis/human-decision/v1':
      return record;
  }
}

/** A finding has a kind of its own, as subjects name findings by digest; every other record is `evidence`. */
export function evidenceDigest(record: EvidenceRecord): Digest<'evidence' | 'finding'> {
  return record.schema === 'portcullis/finding/v1'
    ? findingDigest(record)
    : digestOf('evidence', orderedEvidence(record));
}

/** One item of an evidence set, with its digest made here. */
export function evidenceItem(record: EvidenceRecord): EvidenceItem {
  return { digest: evidenceDigest(record), record, problem: null };
}

/** The set of these items: one listed twice is there once, and order does not matter. */
export function evidenceSetOf(items: readonly EvidenceItem[]): EvidenceSet {
  const byKey = new Map(items.map((item) => [`${item.digest} ${item.problem ?? 'record'}`, item]));
  const sorted = sortedSet([...byKey], ([key]) => key);
  return {
    digest: setDigest(sorted.map(([, item]) => ({ digest: item.digest, problem: item.problem }))),
    items: sorted.map(([, item]) => item),
  };
}

type Member = Pick<EvidenceItem, 'digest' | 'problem'>;

/** A list longer than canonical bytes allow goes in as the digests of its parts. */
function setDigest(members: readonly Member[]): Digest<'evidence-set'> {
  const schema = 'portcullis/evidence-set/v1';
  const count = members.length;
  const limit = CANONICAL_LIMITS.listMembers;
  if (count <= limit) return digestOf('evidence-set', { schema, count, members });
  const parts = Array.from({ length: Math.ceil(count / limit) }, (_, part) =>
    digestOf('evidence-set', { schema, part, members: members.slice(part * limit, (part + 1) * limit) }),
  );
  return digestOf('evidence-set', { schema, count, parts });
}
