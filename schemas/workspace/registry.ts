/**
 * What each role's workspaces are made from and may take (spec/workspaces.md section 1). The document is
 * `policies/workspaces/registry.json`; this is its inner, total form.
 */
import type { ContentDigest } from '../digest.ts';
import type { WorkspaceRole } from './workflow.ts';

/** `chat`: the model loop runs inside Coder. `command`: a CLI in the workspace. `none`: there is no agent in it. */
export const AGENT_ENGINES = ['chat', 'command', 'none'] as const;
export type AgentEngine = (typeof AGENT_ENGINES)[number];

/** A fresh workspace for each ticket, or for each evaluation of one. */
export const WORKSPACE_SPANS = ['ticket', 'evaluation'] as const;
export type WorkspaceSpan = (typeof WORKSPACE_SPANS)[number];

export interface WorkspaceTemplate {
  /** Name of the Coder template. */
  readonly template: string;
  readonly engine: AgentEngine;
  /** Module of the template that installs the CLI; null unless the engine is `command`. */
  readonly coderModule: string | null;
  /** Name of an entry of `egress.models`; null without an agent. */
  readonly model: string | null;
  readonly maxWorkers: number;
  /** Seconds from ready to teardown, unless the ticket says otherwise. */
  readonly ttlSeconds: number;
  /** However often it is extended. */
  readonly maxTtlSeconds: number;
  /** Its agent's credential may not push. */
  readonly readOnly: boolean;
  readonly per: WorkspaceSpan;
  /** It runs an executor, so it is ready only once that is present at the door. */
  readonly executor: boolean;
  readonly overrides: {
    /** Bounds in which a ticket may set the TTL; null means that it may not. */
    readonly ttlSeconds: { readonly min: number; readonly max: number } | null;
    /** Models a ticket may choose; empty means that it may not. */
    readonly models: readonly string[];
  };
}

export interface WorkspaceRegistry {
  readonly schema: 'portcullis/workspace-registry/v1';
  readonly revision: number;
  readonly agents: Readonly<Record<WorkspaceRole, WorkspaceTemplate>>;
}

/** A registry that passed its checks, and the digest by which subjects name it. */
export interface LoadedWorkspaceRegistry {
  readonly registry: WorkspaceRegistry;
  readonly workforceRevision: ContentDigest;
}
