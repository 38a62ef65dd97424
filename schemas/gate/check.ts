/** Checks: what is run, that it was started, and what came out. Evidence that needs no judgement. */
import { digestOf, sortedSet, type ContentDigest, type Digest } from '../digest.ts';
import type { WorkingDirectory } from '../verify/request.ts';
import type { EvidenceRef } from './references.ts';
import type { Attestation, CriterionStatus, UnavailableReason } from './vocabulary.ts';

/**
 * What a check means, pinned by digest. `command`: one argv of one template, with its expectation, timeout and directory.
 * `builtin`: something the control plane computes itself, by name and version.
 */
export type CheckDefinition =
  | {
      readonly schema: 'portcullis/check-definition/v1';
      readonly kind: 'command';
      readonly template: string;
      readonly argv: readonly string[];
      readonly cwd: WorkingDirectory;
      readonly expectExitCode: number;
      readonly timeoutSecs: number;
      readonly artifacts: readonly string[];
    }
  | {
      readonly schema: 'portcullis/check-definition/v1';
      readonly kind: 'builtin';
      readonly name: string;
      readonly version: number;
    };

export function checkDefinitionDigest(definition: CheckDefinition): Digest<'definition'> {
  return digestOf('definition', definition);
}

/** What every record of a check is bound to. One from another execution is foreign, whatever its digest. */
export interface CheckBinding {
  readonly tenant: string;
  readonly checkId: string;
  readonly definitionDigest: Digest<'definition'>;
  /** See `headOf`. */
  readonly head: string;
  readonly executionId: string;
  readonly executionGeneration: number;
  /** Which attempt of this check on this head; 1 is the first. */
  readonly attempt: number;
}

/** Written before the check is dispatched. Never closed by a result of the same attempt: unavailable. */
export interface CheckAttempt extends CheckBinding {
  readonly schema: 'portcullis/check-attempt/v1';
  /** Milliseconds since the epoch, ours. */
  readonly openedAt: number;
}

export interface CheckResult extends CheckBinding {
  readonly schema: 'portcullis/check-result/v1';
  readonly status: CriterionStatus;
  /** Why there is no answer; only with `inconclusive`. */
  readonly unavailable: UnavailableReason | null;
  /** `null` when the check counts nothing or the counts are unknown. */
  readonly counts: {
    readonly executed: number;
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
    readonly provenance: 'reporter_file' | 'stdout';
  } | null;
  readonly refs: readonly EvidenceRef[];
  readonly attestation: Attestation;
  /** Milliseconds since the epoch, by our clock, never by the verifier's. */
  readonly observedAt: number;
  /** `null` when the control plane observed it itself. */
  readonly executor: { readonly role: string; readonly workspace: string; readonly generation: number } | null;
  readonly toolchain: ContentDigest | null;
  /** Files by which the repository chooses what runs, at base and at head. */
  readonly definitions: readonly {
    readonly path: string;
    readonly baseDigest: ContentDigest | null;
    readonly headDigest: ContentDigest | null;
  }[];
}

/** The record with its sets in order: what is stored and digested. @throws `canonical_unsupported` on a repeat */
export function orderedCheckResult(result: CheckResult): CheckResult {
  return {
    ...result,
    refs: sortedSet(result.refs, (ref) => ref.id),
    definitions: sortedSet(result.definitions, (definition) => definition.path),
  };
}
