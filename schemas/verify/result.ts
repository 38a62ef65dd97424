/** The result of a verify request: what is persisted, mirrored and answered (spec/delegated-verification.md section 1). */
import type { ContentDigest, Digest } from '../digest.ts';
import type { ExecutorRole } from '../names.ts';
import type { ArtifactStatement, ExecutorReport, StreamSummary, TestCounts } from './report.ts';
import type { PolicyRef, RoutingRef } from './request.ts';

/** Terminal outcomes. `completed_unpersisted` is a phase on the way there, never one of these. */
export const VERIFY_STATUSES = [
  'completed',
  'timed_out',
  'cancelled',
  'executor_unavailable',
  'executor_lost',
  'prepare_failed',
  'failed_to_start',
  'rejected',
] as const;
export type VerifyStatus = (typeof VERIFY_STATUSES)[number];

/** Outcomes that say something about the work: only these are reused for the same request within the window. */
export const REUSABLE_STATUSES = ['completed', 'timed_out'] as const satisfies readonly VerifyStatus[];

export interface DefinitionDigest {
  readonly path: string;
  readonly base_digest: ContentDigest | null;
  readonly head_digest: ContentDigest | null;
}

/**
 * Why a result can never serve a gate: the machine was shared with the agent whose work is judged, uncommitted work was looked at,
 * nothing is known of the work, or the command could reach what judges it.
 */
export const GATE_GRADE_REASONS = ['producer_attestation', 'worktree', 'no_answer', 'containment'] as const;
export type GateGradeReason = (typeof GATE_GRADE_REASONS)[number];

export interface GateGrade {
  readonly eligible: boolean;
  /** Empty exactly when it is eligible. */
  readonly reasons: readonly GateGradeReason[];
}

export interface VerifyResult {
  readonly schema: 'portcullis/verify-result/v1';
  readonly task_id: string;
  readonly request_digest: Digest<'request'>;
  readonly status: VerifyStatus;
  /** `producer`: the agent shares that machine, so it can fail a check and never satisfy one. */
  readonly attestation: 'producer' | 'verifier';
  readonly satisfied: boolean;
  /** Why it does not satisfy, each a stable code; empty when it does. */
  readonly reasons: readonly string[];
  readonly argv_requested: readonly string[];
  readonly argv_executed: readonly string[];
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly timed_out: boolean;
  readonly cancelled: boolean;
  readonly duration_ms: number;
  /** Milliseconds since the epoch, ours, not the executor's. */
  readonly observed_at: number;
  readonly stdout_ref: string;
  readonly stderr_ref: string;
  readonly stdout: StreamSummary | null;
  readonly stderr: StreamSummary | null;
  readonly artifacts: readonly ArtifactStatement[];
  readonly executor: { readonly role: ExecutorRole; readonly workspace: string; readonly generation: number };
  readonly subject: {
    readonly head_sha: string;
    readonly execution: string;
    readonly generation: number;
    readonly tree_before: string | null;
    readonly tree_after: string | null;
  };
  readonly definitions: readonly DefinitionDigest[];
  readonly tests: TestCounts | 'unknown' | null;
  readonly prepare: ExecutorReport['prepare'];
  readonly toolchain: ExecutorReport['toolchain'];
  readonly policy: PolicyRef;
  readonly routing: RoutingRef | null;
  /** Whether a gate may look at it; never whether it passes one. */
  readonly gate_grade: GateGrade;
  readonly sandbox: ExecutorReport['sandbox'] | null;
}
