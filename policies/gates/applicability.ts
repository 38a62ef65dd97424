/**
 * Whether a decision counts now: one function, derived at each read and stored nowhere. Merge, ledger and command line call
 * it, so none of them can be more lenient than another (spec/gate.md section 5).
 */
import type { Digest } from '../../schemas/digest.ts';
import type { GateDecision, IndexLength } from '../../schemas/gate/decision.ts';
import type { EvidenceItem } from '../../schemas/gate/evidence-set.ts';
import type { Applicability } from '../../schemas/gate/vocabulary.ts';

/** What is current. `null` where nothing is: then nothing old is either. */
export interface CurrentHeads {
  readonly subjectDigest: Digest<'subject'> | null;
  readonly executionId: string | null;
  readonly executionGeneration: number | null;
  readonly policyDigest: Digest<'policy'> | null;
  readonly definitionDigest: Digest<'gate-definition'> | null;
}

export interface ApplicabilityFacts {
  readonly heads: CurrentHeads;
  /** Names as in `authorities` that were revoked. */
  readonly revoked: ReadonlySet<string>;
  /** How far the indexes have grown now. */
  readonly indexes: readonly IndexLength[];
  /** What the indexes list beyond the lengths that the decision recorded. */
  readonly later: readonly EvidenceItem[];
  /** A second evaluator disagreed (`contradiction:…`). */
  readonly disagreement: boolean;
  /** Signature, decision bytes and the bytes of all it cites were read again and gave the same digests. */
  readonly intact: boolean;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly now: number;
}

export interface ApplicabilityView {
  readonly applicability: Applicability;
  /** Everything that moved, in the order in which it would decide; empty when it applies. */
  readonly moved: readonly Exclude<Applicability, 'applicable'>[];
}

/** The order in which several reasons are told: what is worst first. */
const TESTS: readonly (readonly [
  Exclude<Applicability, 'applicable'>,
  (decision: GateDecision, facts: ApplicabilityFacts) => boolean,
])[] = [
  ['evidence_tampered', (decision, facts) => !facts.intact || hasShrunk(decision, facts) || facts.later.some(isBroken)],
  ['revoked', (decision, facts) => decision.authorities.some((name) => facts.revoked.has(name))],
  ['contradicted', (_, facts) => facts.disagreement || facts.later.some(isNegative)],
  [
    'execution_superseded',
    (decision, { heads }) =>
      heads.executionId !== decision.executionId || heads.executionGeneration !== decision.executionGeneration,
  ],
  ['subject_superseded', (decision, { heads }) => heads.subjectDigest !== decision.subjectDigest],
  [
    'policy_superseded',
    (decision, { heads }) =>
      heads.policyDigest !== decision.policy.digest || heads.definitionDigest !== decision.definition.digest,
  ],
  ['expired', (decision, facts) => decision.validUntil !== null && decision.validUntil <= facts.now],
];

/** Never looks at what the decision says: a rework that no longer applies is as dead as a pass. */
export function applicabilityOf(decision: GateDecision, facts: ApplicabilityFacts): ApplicabilityView {
  const moved = TESTS.flatMap(([name, holds]) => (holds(decision, facts) ? [name] : []));
  return { applicability: moved[0] ?? 'applicable', moved };
}

/** True for the only thing that authorises anything: a pass that applies now. */
export function authorises(decision: GateDecision, view: ApplicabilityView): boolean {
  return decision.decision === 'pass' && view.applicability === 'applicable';
}

/** An append-only index is shorter than it was: somebody took entries away. */
function hasShrunk(decision: GateDecision, facts: ApplicabilityFacts): boolean {
  const now = new Map(facts.indexes.map(({ index, length }) => [index, length]));
  return decision.indexes.some(({ index, length }) => (now.get(index) ?? 0) < length);
}

const isBroken = (item: EvidenceItem): boolean => item.problem !== null;

/** Evidence that speaks against the subject: had it been there, the decision could not have been a pass. */
export function isNegative(item: EvidenceItem): boolean {
  if (item.record === null) return true;
  const record = item.record;
  switch (record.schema) {
    case 'portcullis/check-result/v1':
      return record.status === 'failed';
    case 'portcullis/verification-run/v1':
      return (
        record.outcome.state === 'finished' &&
        record.outcome.rows.some((row) => row.status === 'failed' || row.status === 'inconclusive')
      );
    case 'portcullis/finding/v1':
      return record.standing === 'blocking';
    case 'portcullis/disposition/v1':
      return record.disposition !== 'resolved' && record.disposition !== 'superseded_by_subject_change';
    case 'portcullis/human-decision/v1':
      return record.decision === 'reject';
    case 'portcullis/check-attempt/v1':
      return false;
  }
}
