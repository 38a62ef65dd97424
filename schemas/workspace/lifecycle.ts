/** Phases, events and records of a workspace's life (spec/workspaces.md section 2, spec/store.md). */
import type { WorkspaceInput, WorkspaceRole, TeardownTrigger } from './workflow.ts';

/** In the order in which they are passed. */
export const WORKSPACE_PHASES = [
  'detect',
  'assign',
  'template',
  'provision',
  'install',
  'bind',
  'execute',
  'teardown',
] as const;
export type WorkspacePhase = (typeof WORKSPACE_PHASES)[number];

/** `begun` is written before a phase does anything; the others after it. */
export const LIFECYCLE_OUTCOMES = [
  'begun',
  'done',
  'failed',
  'cancelled',
  'retrying',
  'quarantined',
  'ruled',
  'extended',
  'asked',
] as const;
export type LifecycleOutcome = (typeof LIFECYCLE_OUTCOMES)[number];

/** One entry of `event_ring`. Other owners of a life (a ticket) use the same ring with phases of their own. */
export interface LifecycleEvent {
  /** Grows by one for each event of the tenant. */
  readonly seq: number;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly at: number;
  readonly ticket: string;
  /** Null when the event is not of a workspace. */
  readonly role: WorkspaceRole | null;
  /** Name of the workspace; empty when the event is not of one. */
  readonly workspace: string;
  /** Workspace generation; 0 when the event is not of a workspace. */
  readonly generation: number;
  readonly phase: string;
  readonly outcome: string;
  readonly trigger?: TeardownTrigger;
  /** For people and without secrets, at most 512 characters. */
  readonly detail: string;
}

/** An event before the store numbers it. */
export type LifecycleDraft = Omit<LifecycleEvent, 'seq' | 'at'>;

/** How a workspace is listed. `gone` only when proved. */
export const WORKSPACE_STATES = ['waiting', 'provisioning', 'ready', 'ending', 'quarantined', 'gone'] as const;
export type WorkspaceLifeState = (typeof WORKSPACE_STATES)[number];

/** `workspace:{id}`: the projection for lists and for the reconciler; written with its events in one step. */
export interface WorkspaceRecord {
  readonly schema: 'portcullis/workspace/v1';
  /** Its name at Coder. */
  readonly id: string;
  /** Id of its workflow. */
  readonly run: string;
  readonly tenant: string;
  readonly ticket: string;
  readonly role: WorkspaceRole;
  readonly workspaceGeneration: number;
  readonly execution: WorkspaceInput['execution'];
  readonly purpose: string;
  readonly owner: string;
  readonly state: WorkspaceLifeState;
  readonly phase: WorkspacePhase;
  readonly waitingOn: string;
  readonly detail: string;
  /** Null until the create was answered. */
  readonly coderWorkspaceId: string | null;
  /** Ids of the credentials that were written for it. */
  readonly credentials: readonly string[];
  /** Milliseconds since the epoch, like all times here. */
  readonly startedAt: number;
  readonly readyAt: number | null;
  /** When our timer tears it down; null until it is ready. */
  readonly deadline: number | null;
  /** The latest deadline that an extension can reach. */
  readonly latestDeadline: number | null;
  readonly trigger: TeardownTrigger | null;
  readonly endedAt: number | null;
}

/** A field of `flow_recovery`: something that has to be put right, open until it is. */
export interface RecoveryRecord {
  readonly schema: 'portcullis/recovery/v1';
  /** The run that it is about. */
  readonly run: string;
  readonly kind: 'teardown_failed' | 'orphan' | 'stale' | 'stray';
  readonly ticket: string;
  readonly workspace: string;
  readonly attempts: number;
  readonly reason: string;
  readonly openedAt: number;
}

/**
 * `incident:{id}`: a workspace that cannot be destroyed, until an operator rules or it is gone; or something that landed while
 * the authority for it changed, until an operator rules.
 */
export interface IncidentRecord {
  readonly schema: 'portcullis/incident/v1';
  /** Of a workspace when it is left out. */
  readonly kind?: 'workspace' | 'landing';
  /** Name of the workspace, or of the landing. */
  readonly id: string;
  readonly run: string;
  readonly ticket: string;
  /** `null` when it is not of a workspace. */
  readonly role: WorkspaceRole | null;
  readonly coderWorkspaceId: string | null;
  readonly state: 'open' | 'gone' | 'orphaned' | 'closed';
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly reason: string;
  readonly openedAt: number;
  readonly closedAt: number | null;
  /** Who ruled, and why; null when it went by itself. */
  readonly ruling: { readonly ruling: string; readonly by: string; readonly reason: string } | null;
}
