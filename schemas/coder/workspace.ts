/** A Coder workspace as the control plane keeps it, and what a read of one can say. */
import type { BuildState } from './build.ts';

/**
 * The template parameter that carries the id of the owning workflow (`workspace/…`): how the reconciler finds whose a
 * workspace is, and how a create that lost its answer is recognised. Every worker template has it.
 */
export const RUN_PARAMETER = 'portcullis_run';

export interface WorkspaceState {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly ownerName: string;
  readonly organizationId: string;
  readonly templateId: string;
  /** Empty when the server did not say. */
  readonly templateName: string;
  /** Coder's own autostop in milliseconds; null when it is off. A backstop only: our durable timer is the TTL. */
  readonly ttlMs: number | null;
  readonly dormant: boolean;
  readonly build: BuildState;
}

/**
 * `deleted`: the server says so (410 by id). `unseen`: 404, which means absent or not visible to this token, and is
 * never proof that something is gone.
 */
export type WorkspaceReading =
  | { readonly seen: 'present'; readonly workspace: WorkspaceState }
  | { readonly seen: 'deleted' }
  | { readonly seen: 'unseen' };

/** A workspace of the service user and the run it carries; null when it carries none of ours. */
export interface OwnedWorkspace {
  readonly workspace: WorkspaceState;
  readonly run: string | null;
}

export interface ParameterValue {
  readonly name: string;
  readonly value: string;
}

/** What to create. `run` goes in as the parameter `RUN_PARAMETER`; `parameters` must not name it. */
export interface WorkspaceRequest {
  /** User name of the service user; `me` is not accepted, since the owner is compared. */
  readonly owner: string;
  readonly name: string;
  readonly templateId: string;
  /** The version that the parameters were checked against. */
  readonly templateVersionId: string;
  readonly run: string;
  readonly parameters: readonly ParameterValue[];
  /** The backstop: at least 60 000. */
  readonly ttlMs: number;
}

export interface WorkspaceCreated {
  /** `adopted`: an earlier attempt had made it; template, owner and run were compared. */
  readonly how: 'created' | 'adopted';
  readonly workspace: WorkspaceState;
}

/**
 * What came of asking for a build. `already`: the last build has done it. `busy`: another build is active, wait for
 * it and ask again. `gone`: deleted, so there is nothing to build.
 */
export type BuildAsked =
  { readonly outcome: 'started' | 'already' | 'busy'; readonly build: BuildState } | { readonly outcome: 'gone' };

export type BuildRequest =
  | { readonly transition: 'start' | 'stop' }
  | {
      readonly transition: 'delete';
      /** Build the delete with this version instead of the last build's: when that one cannot be destroyed. */
      readonly templateVersionId?: string;
      /** Forget the resources without destroying them. Break-glass: needs template rights and leaves compute behind. */
      readonly orphan?: boolean;
    };

/** `gone` needs both: a delete job that succeeded and 410 by id. `because` says what is missing. */
export type GoneProof =
  | { readonly gone: true }
  | {
      readonly gone: false;
      readonly because: 'delete_not_asked' | 'delete_active' | 'delete_failed' | 'still_present' | 'unseen';
    };

/** `asked`: it is being cancelled. `ended`: it had ended before. `moved_on`: no longer in the state the caller named. */
export interface CancelAsked {
  readonly outcome: 'asked' | 'ended' | 'moved_on';
  readonly build: BuildState;
}

export type Extended =
  | { readonly extended: true; readonly deadline: string }
  | { readonly extended: false; readonly because: 'building' | 'not_running' | 'no_deadline' | 'gone' | 'unseen' };

export interface LogLine {
  /** Grows; pass the last one seen as `after`. */
  readonly id: number;
  readonly at: string;
  readonly level: string;
  /** The stage of a build; empty for an agent's line. */
  readonly stage: string;
  readonly text: string;
}
