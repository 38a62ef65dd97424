/** What the evaluator is given: records that were read again and hashed again, with the digests that came out. */
import type { Digest } from '../../schemas/digest.ts';
import type { EvidenceSet } from '../../schemas/gate/evidence-set.ts';
import type { GateDefinition, GatePolicy } from '../../schemas/gate/policy.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';

export interface Sealed<T, K extends 'subject' | 'policy' | 'gate-definition'> {
  readonly digest: Digest<K>;
  readonly record: T;
}

export interface GateInput {
  readonly subject: Sealed<SubjectManifest, 'subject'>;
  readonly evidence: EvidenceSet;
  readonly policy: Sealed<GatePolicy, 'policy'>;
  readonly definition: Sealed<GateDefinition, 'gate-definition'>;
  /** Milliseconds since the epoch. The evaluator has no clock of its own. */
  readonly asOf: number;
}

/** The version of this evaluator's logic. Anything that could change a decision changes it. */
export const EVALUATOR_VERSION = 'portcullis-gate/1';

/** How far ahead of `asOf` an observation may be before a clock is wrong, in milliseconds. */
export const CLOCK_SKEW_MS = 5_000;

/** Beyond this nothing is evaluated: a subject with so much evidence is under attack, and the answer is `blocked`. */
export const EVIDENCE_LIMITS = { items: 10_000, authorities: 2_000 } as const;
