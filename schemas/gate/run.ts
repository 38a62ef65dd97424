/** A verification run: who looked, and one row for each criterion. Evidence; the gate decides. */
import { sortedSet, type Digest } from '../digest.ts';
import type { EvidenceRef, Principal } from './references.ts';
import type { CriterionStatus, Method, UnavailableReason } from './vocabulary.ts';

export interface CriterionRow {
  readonly criterionId: string;
  readonly status: CriterionStatus;
  readonly method: Method;
  /** At least one for `passed`. */
  readonly evidenceRefs: readonly EvidenceRef[];
  /** Lower-case words joined by underscores; for people and statistics, never read by the gate. */
  readonly reasonCode: string;
}

export type RunOutcomeRecord =
  | { readonly state: 'finished'; readonly rows: readonly CriterionRow[] }
  | { readonly state: 'unavailable'; readonly reason: UnavailableReason }
  /** Admission said no (code of the error catalogue); nothing ran. */
  | { readonly state: 'refused'; readonly code: string };

export interface VerifierRuntime {
  readonly provider: string;
  readonly model: string;
  readonly configRevision: string;
  readonly receiptId: string;
}

export interface VerificationRun {
  readonly schema: 'portcullis/verification-run/v1';
  readonly tenant: string;
  readonly runId: string;
  readonly subjectDigest: Digest<'subject'>;
  readonly executionId: string;
  readonly executionGeneration: number;
  readonly requestDigest: Digest<'request'>;
  readonly verifier: { readonly principal: Principal; readonly class: string };
  /** `null` for one that calls no model. */
  readonly runtime: VerifierRuntime | null;
  readonly grant: { readonly id: string; readonly revision: number };
  readonly contextManifestDigest: Digest<'context-manifest'> | null;
  readonly outcome: RunOutcomeRecord;
  /** Milliseconds since the epoch, ours. */
  readonly observedAt: number;
}

/** The record with its sets in order: what is stored and digested. @throws `canonical_unsupported` on two rows for one criterion */
export function orderedRun(run: VerificationRun): VerificationRun {
  if (run.outcome.state !== 'finished') return run;
  const rows = sortedSet(run.outcome.rows, (row) => row.criterionId).map((row) => ({
    ...row,
    evidenceRefs: sortedSet(row.evidenceRefs, (ref) => ref.id),
  }));
  return { ...run, outcome: { state: 'finished', rows } };
}
