/**
 * The activities of `workspace`, `destroyWorkspace` and `slots`. Implemented in `activities/workspaces/`. Each may be repeated. No
 * claim code, token or prompt is among their arguments and answers.
 */
import type { ExecutorRole } from '../names.ts';
import type { Seat } from '../queues.ts';
import type { IncidentRecord, LifecycleDraft, RecoveryRecord, WorkspaceRecord } from './lifecycle.ts';
import type { AgentEngine } from './registry.ts';
import type { SlotsMessage, SlotsView } from './slots.ts';
import type { WorkspaceInput, WorkspaceRole } from './workflow.ts';

/** What the registry makes of a request for a workspace. */
export interface WorkspacePlan {
  readonly template: string;
  readonly engine: AgentEngine;
  readonly model: string | null;
  readonly maxWorkers: number;
  readonly ttlSeconds: number;
  readonly maxTtlSeconds: number;
  /** Null for a role without one. */
  readonly executorRole: ExecutorRole | null;
  readonly agent: boolean;
  readonly readOnly: boolean;
  readonly workforceRevision: string;
}

export interface ResolvedTemplate {
  readonly templateId: string;
  /** The version that the parameters were checked against. */
  readonly templateVersionId: string;
}

/** Which workspace an activity is about. */
export interface WorkspaceRef {
  readonly tenant: string;
  readonly ticket: string;
  readonly role: WorkspaceRole;
  readonly workspaceGeneration: number;
  readonly run: string;
  readonly name: string;
}

export interface LifecycleWrite {
  readonly tenant: string;
  /** Who numbers the writes: a run id of Temporal. */
  readonly source: string;
  /** Grows within the source; a repeated number is the same write. */
  readonly n: number;
  /** Null when the events are of no workspace of ours; a repeated write is then repeated in the ring. */
  readonly record: WorkspaceRecord | null;
  /** At most three. */
  readonly events: readonly LifecycleDraft[];
}

export interface CredentialRequest {
  readonly workspace: WorkspaceRef;
  readonly plan: WorkspacePlan;
  readonly execution: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Until when its claim codes can be exchanged. */
  readonly claimUntil: number;
}

export interface CreateRequest {
  readonly workspace: WorkspaceRef;
  readonly plan: WorkspacePlan;
  readonly template: ResolvedTemplate;
  readonly source: WorkspaceInput['source'];
  /** Coder's own ttl, a backstop behind our timer. */
  readonly backstopMs: number;
}

export interface CreatedWorkspace {
  readonly how: 'created' | 'adopted';
  readonly coderWorkspaceId: string;
  readonly buildId: string;
  /** The answer to the create said that no provisioner can take the build: it would never start. */
  readonly unserved: boolean;
}

/** How far a workspace is from being usable. Only `failed` is final. */
export type ProvisionStep = 'queued' | 'building' | 'connecting' | 'door' | 'ready' | 'failed';

export interface ProvisionSight {
  readonly step: ProvisionStep;
  /** For people: the place in Coder's queue, the stage. */
  readonly detail: string;
  /** A short stable word for `failed`; empty otherwise. */
  readonly reason: string;
}

export interface ProvisionLook {
  readonly coderWorkspaceId: string;
  /** Whose presence at the door is needed; null for a role without an executor. */
  readonly seat: Seat | null;
  /** What was seen last: the answer comes when it differs, or after `forMs`. */
  readonly seen: ProvisionSight | null;
  readonly forMs: number;
}

export interface WatchLook {
  readonly coderWorkspaceId: string;
  readonly seat: Seat | null;
  readonly owner: string;
  readonly forMs: number;
}

/** `stale`: it does not run any more, or its executor has not been seen for long. */
export type WatchAnswer =
  | { readonly kind: 'alive' }
  | { readonly kind: 'owner_closed' }
  | { readonly kind: 'stale'; readonly reason: 'not_running' | 'agent_lost' | 'presence_absent' | 'gone' };

export type Located =
  | { readonly found: 'present'; readonly coderWorkspaceId: string }
  /** Nothing carries its name and its run, and the server answers this identity. */
  | { readonly found: 'nothing' };

export interface DeleteLook {
  readonly coderWorkspaceId: string;
  /** The delete build that was asked for; null before. */
  readonly buildId: string | null;
  /** Delete with the template's active version instead of the last build's. */
  readonly activeVersion: boolean;
  readonly seen: DeleteSight | null;
  readonly forMs: number;
}

/** `busy`: another build is active. `gone` is proved: the delete job succeeded and Coder answers 410. */
export interface DeleteSight {
  readonly at: 'busy' | 'deleting' | 'gone' | 'failed';
  readonly buildId: string | null;
  readonly detail: string;
  readonly reason: string;
}

export interface SweepAnswer {
  /** Processes or machines that were ended; null when no sweep is set up. */
  readonly swept: number | null;
}

/** Short writes and reads of the trusted plane's own store. */
export interface WorkspaceLocalActivities {
  /**
   * @throws `coder_not_configured`, `kill_switch`, `workspace_refused` when the registry does not permit it
   */
  planWorkspace(input: WorkspaceInput): Promise<WorkspacePlan>;
  recordWorkspace(write: LifecycleWrite): Promise<void>;
  /** Starts the slots of the role when they are not there. */
  tellSlots(tenant: string, role: WorkspaceRole, message: SlotsMessage): Promise<void>;
  /** Seats the workspace in its pair's roles, then writes credentials and claim codes; their ids. @throws `state_conflict` */
  writeWorkspaceCredentials(request: CredentialRequest): Promise<readonly string[]>;
  /** Those that were recorded, and those that the run would have: a write that was broken off leaves no ids. */
  refuseWorkspaceCredentials(workspace: WorkspaceRef, ids: readonly string[]): Promise<void>;
  openRecovery(tenant: string, record: RecoveryRecord): Promise<void>;
  closeRecovery(tenant: string, run: string): Promise<void>;
  writeIncident(tenant: string, record: IncidentRecord): Promise<void>;
  /** The incident of a workspace unless it ended with a proof: a destroyer goes on with what is open, and with what a person closed. */
  readUnprovenIncident(tenant: string, id: string): Promise<IncidentRecord | null>;
  projectSlots(tenant: string, view: SlotsView): Promise<void>;
}

export interface PushRequest {
  readonly run: string;
  readonly tenant: string;
  /** The longest that is waited, in seconds. */
  readonly seconds: number;
}

/** `nobody`: no chat of this run is open. `refused`: the kill switch is on, and nothing would be taken. */
export interface PushAnswer {
  readonly came: 'idle' | 'time_over' | 'nobody' | 'refused';
}

/** Calls to Coder; the long ones heartbeat and answer when what they saw changed. */
export interface WorkspaceActivities {
  /** @throws `workspace_template_refused`, `coder_parameter_invalid`, `coder_unseen` */
  resolveTemplate(workspace: WorkspaceRef, plan: WorkspacePlan): Promise<ResolvedTemplate>;
  /** @throws `coder_name_taken`, `coder_name_spent`, `coder_parameter_invalid` and the codes of the port */
  createWorkspace(request: CreateRequest): Promise<CreatedWorkspace>;
  observeProvisioning(look: ProvisionLook): Promise<ProvisionSight>;
  watchWorkspace(look: WatchLook): Promise<WatchAnswer>;
  /**
   * Asks the agent of a run to push what it has, and waits until it is idle again or the time is over. It says nothing about the
   * work: what was pushed is in git.
   */
  askToPush(request: PushRequest): Promise<PushAnswer>;
  /** Interrupts and archives the chats of the run: how many are still active. */
  quietChats(run: string): Promise<{ readonly active: number }>;
  locateWorkspace(workspace: WorkspaceRef): Promise<Located>;
  advanceDelete(look: DeleteLook): Promise<DeleteSight>;
  sweepCompute(workspace: WorkspaceRef): Promise<SweepAnswer>;
  /** Break-glass: Coder forgets the workspace without destroying what it made. @throws `coder_forbidden` */
  orphanWorkspace(workspace: WorkspaceRef, coderWorkspaceId: string, by: string): Promise<void>;
}

/** What `destroyWorkspace` is started with, under the id of the closed owner. */
export interface DestroyInput {
  /** As the store has it, or made from the run when the store has none. */
  readonly record: WorkspaceRecord;
}

/** What `destroyStray` is started with: a workspace of the service user that carries no run of ours. */
export interface StrayInput {
  readonly tenant: string;
  readonly coderWorkspaceId: string;
  readonly name: string;
}
