/** What an executor says about one run. A statement, checked against its schema at the door; never a verdict. */
import type { ContentDigest } from '../digest.ts';
import type { PrepareStatement } from './prepare.ts';

/**
 * Limits whose crossing ends a run, or a process of it, by force: memory of all its processes together, bytes and files in its
 * copy, files in its scratch space, and room left on the executor's disk. The others refuse the one call that crosses them.
 */
export const ENDING_LIMITS = ['memoryBytes', 'workBytes', 'files', 'diskFree'] as const;
export type EndingLimit = (typeof ENDING_LIMITS)[number];

export const CONTAINMENTS = ['bubblewrap', 'process-group'] as const;
export type Containment = (typeof CONTAINMENTS)[number];

export interface StreamSummary {
  /** Everything the command wrote. */
  readonly bytes: number;
  /** What is kept: at most 1 MiB, head and tail. */
  readonly stored: number;
  readonly truncated: boolean;
  readonly stored_digest: ContentDigest;
  /** Of the whole stream: a claim of the executor, as only it saw all of it. */
  readonly full_digest: ContentDigest;
  readonly chunks: number;
  readonly chunks_failed: number;
}

export interface TestCounts {
  readonly executed: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Where the counts come from; the code under test can print what `stdout` shows. */
  readonly provenance: 'reporter_file' | 'stdout';
}

export interface ArtifactStatement {
  readonly path: string;
  readonly sha256: ContentDigest;
  readonly bytes: number;
}

/** How the run itself ended, before anything is judged. */
export const RUN_OUTCOMES = [
  'completed',
  'timed_out',
  'cancelled',
  'failed_to_start',
  'prepare_failed',
  'rejected',
] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

export interface ExecutorReport {
  readonly schema: 'portcullis/executor-report/v1';
  readonly outcome: RunOutcome;
  /** Code of the catalogue and a sentence when it did not complete; empty otherwise. */
  readonly reason: string;
  readonly argv_executed: readonly string[];
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly duration_ms: number;
  readonly stdout: StreamSummary;
  readonly stderr: StreamSummary;
  readonly artifacts: readonly ArtifactStatement[];
  readonly missing_artifacts: readonly string[];
  /** Digest over the tracked files after the run; a difference can only lower the result. */
  readonly tree_after: string | null;
  readonly tests: TestCounts | 'unknown' | null;
  /** `null` when nothing is prepared for such a command, or it did not come to that. */
  readonly prepare: PrepareStatement | null;
  readonly toolchain: { readonly digest: ContentDigest } | null;
  readonly sandbox: {
    readonly containment: Containment;
    readonly network: 'none' | 'host';
    /** Those in force, by name. Without `memoryBytes` memory is limited for each process only. */
    readonly limits: Readonly<Record<string, number>>;
    /** Limits that the command crossed; absent when it kept them all. */
    readonly exceeded?: readonly EndingLimit[];
  };
}
