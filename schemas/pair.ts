/** What the control plane knows of a pair: who plays which role, and what its current head is (spec/store.md). */
import type { ExecutorRole, Role } from './names.ts';

export interface PairRoles {
  readonly schema: 'portcullis/pair-roles/v1';
  readonly pair: string;
  /** Which roles take part. A role that is not here cannot be addressed. */
  readonly roles: readonly Role[];
  /** Where a request without `executor` goes, and which executors may be asked for (routing policy). */
  readonly routing: { readonly default: ExecutorRole; readonly permitted: readonly ExecutorRole[] };
  /** The workspace that serves each executor role now. */
  readonly workspaces: Readonly<Partial<Record<ExecutorRole, { readonly name: string; readonly generation: number }>>>;
  readonly baseBranch: string;
}

export interface PairHead {
  readonly schema: 'portcullis/pair-head/v1';
  readonly pair: string;
  readonly headSha: string;
  /** Commit the change is judged against; `null` when there is none (the first commit of a repository). */
  readonly baseSha: string | null;
  readonly execution: string;
  readonly generation: number;
}

export interface KillSwitch {
  readonly schema: 'portcullis/kill-switch/v1';
  readonly on: boolean;
  readonly reason: string;
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}
