/**
 * What the starter of a workspace and the `workspace` workflow agree on (spec/workspaces.md). One workflow owns one workspace
 * from before it exists until it is proved gone; its id is `workspaceWorkflowId`, and the starter hears of it by signal.
 */
import type { Role } from '../names.ts';

/** Roles that have a workspace. VESSEL and NEXUS have none (spec/tickets.md). */
export const WORKSPACE_ROLES = ['forge', 'sentinel', 'verifier', 'lore'] as const satisfies readonly Role[];
export type WorkspaceRole = (typeof WORKSPACE_ROLES)[number];

export function isWorkspaceRole(text: string): text is WorkspaceRole {
  return (WORKSPACE_ROLES as readonly string[]).includes(text);
}

/** Workflow types, as registered with Temporal. */
export const WORKSPACE_WORKFLOWS = {
  workspace: 'workspace',
  /** Started by the reconciler under the id of an owner that is closed. */
  destroy: 'destroyWorkspace',
  /** Started by the reconciler for a workspace that carries no run of ours. */
  destroyStray: 'destroyStray',
  slots: 'slots',
} as const;

/** Why a workspace is torn down. */
export const TEARDOWN_TRIGGERS = [
  'merged',
  'failed',
  'timeout',
  'manual',
  'abandoned',
  'evaluated',
  'cancelled',
  'superseded',
  'orphaned',
] as const;
export type TeardownTrigger = (typeof TEARDOWN_TRIGGERS)[number];

/** Argument of `workspace`. Started with `ABANDON` by whoever may continue as new (DESIGN section 5). */
export interface WorkspaceInput {
  readonly tenant: string;
  /** Ticket and pair: their ids are equal. */
  readonly ticket: string;
  readonly role: WorkspaceRole;
  /** +1 for each workspace of a (ticket, role); the owner counts. */
  readonly workspaceGeneration: number;
  readonly execution: { readonly id: string; readonly generation: number };
  /** What it is for, in words an operator reads: `building segment 2`. */
  readonly purpose: string;
  /** The commit that is checked out, and the branch its agent may push; `null` for a role that only reads. */
  readonly source: { readonly head: string; readonly branch: string | null };
  /** Seconds from ready to teardown; `null` takes the role's default. Bounded by the registry. */
  readonly ttlSeconds: number | null;
  /** Workflow that is told `workspaceReady` and `workspaceEnded`. */
  readonly owner: string;
}

/** Names of the signals; their one argument is the type named beside each. */
export const WORKSPACE_SIGNALS = {
  /** To the owner: {@link WorkspaceReady}. */
  ready: 'workspaceReady',
  /** To the owner, before its agent is asked to push for the last time: {@link WorkspaceEnding}. Nothing is asked of it any more. */
  ending: 'workspaceEnding',
  /** To the owner: {@link WorkspaceEnded}; the last thing a workspace says. */
  ended: 'workspaceEnded',
  /** To the workspace: {@link WorkspaceRelease}. Repeating it changes nothing. */
  release: 'releaseWorkspace',
  /** To the workspace, from whatever is inside it: {@link WorkspaceShortening}. */
  shorten: 'shortenWorkspace',
  /** To the workspace, from the reconciler: Coder does not list it any more. No argument; it looks for itself. */
  vanished: 'workspaceVanished',
  /** To the workspace, from its slots. */
  slotGranted: 'slotGranted',
  /** To the workspace, from its slots: {@link SlotPlace}. */
  slotPlace: 'slotPlace',
} as const;

/** Names of the updates; argument and answer are the types named beside each. */
export const WORKSPACE_UPDATES = {
  /** {@link WorkspaceExtension} → {@link WorkspaceExtended}. The control plane's alone. */
  extend: 'extendWorkspace',
  /** {@link IncidentRuling} → {@link IncidentRuled}. An operator's alone. */
  resolveIncident: 'resolveIncident',
} as const;

/** Names of the queries. */
export const WORKSPACE_QUERIES = {
  /** → the `WorkspaceRecord` as the workflow has it. */
  record: 'workspaceRecord',
} as const;

/** What a workspace says about itself can only make its life shorter (invariant 12). */
export interface WorkspaceShortening {
  /** Seconds from now; longer than what is left changes nothing. */
  readonly seconds: number;
}

export interface SlotPlace {
  /** 1 is next. */
  readonly place: number;
  readonly waiting: number;
  /** True while too many quarantined workspaces of the role stop new ones. */
  readonly stopped: boolean;
}

export interface WorkspaceExtension {
  readonly seconds: number;
  readonly by: string;
  readonly reason: string;
}

export type WorkspaceExtended =
  | {
      readonly extended: true;
      /** Milliseconds since the epoch. */ readonly deadline: number;
      /** True when `max_ttl` cut it. */ readonly capped: boolean;
    }
  | { readonly extended: false; readonly because: 'not_ready' | 'ending' | 'at_maximum' };

/**
 * What an operator decides on a workspace that cannot be destroyed. `retry`: try once more now. `orphan`: Coder forgets it
 * (break-glass) and the compute is swept. `close`: it was dealt with outside.
 */
export interface IncidentRuling {
  readonly ruling: 'retry' | 'orphan' | 'close';
  readonly by: string;
  readonly reason: string;
}

export interface IncidentRuled {
  readonly taken: boolean;
}

export interface WorkspaceReady {
  /** Id of the workspace workflow: the run that its chats and compute carry. */
  readonly run: string;
  readonly role: WorkspaceRole;
  readonly workspaceGeneration: number;
  readonly name: string;
  readonly coderWorkspaceId: string;
}

export interface WorkspaceEnding {
  readonly run: string;
}

export interface WorkspaceEnded {
  readonly run: string;
  readonly role: WorkspaceRole;
  readonly workspaceGeneration: number;
  readonly trigger: TeardownTrigger;
  /** `never_ready`: it ended before it could be used; `reason` says why. */
  readonly became: 'ended' | 'never_ready';
  /** `gone` only when proved; a quarantined one is retried until an operator rules. */
  readonly fate: 'gone' | 'quarantined';
  readonly reason: string;
}

export interface WorkspaceRelease {
  readonly trigger: TeardownTrigger;
  readonly reason: string;
}
