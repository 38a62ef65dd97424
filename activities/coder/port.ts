/**
 * What the workspace workflow asks of Coder. One call is one step: nothing here waits for a build or an agent, polling
 * belongs to the caller, which has the heartbeat. Every call may be repeated; an answer that could mean two things is
 * resolved by reading back before it is given.
 *
 * Errors, by code: `coder_unavailable` `coder_rate_limited` `coder_conflict` (ask again), `coder_unauthenticated`
 * `coder_forbidden` `coder_unseen` `coder_refused` `coder_unreadable` (an operator's), and those a call names.
 */
import type { BuildState } from '../../schemas/coder/build.ts';
import type { CoderServer, TemplateParameter, TemplateState } from '../../schemas/coder/template.ts';
import type {
  BuildAsked,
  BuildRequest,
  CancelAsked,
  Extended,
  GoneProof,
  LogLine,
  OwnedWorkspace,
  ParameterValue,
  WorkspaceCreated,
  WorkspaceReading,
  WorkspaceRequest,
} from '../../schemas/coder/workspace.ts';

/** `signal` ends the call at once with the signal's reason, waits for a rate limit included. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface CoderPort {
  server(call?: CallOptions): Promise<CoderServer>;

  /** By organization (name or id) and template name. */
  template(organization: string, name: string, call?: CallOptions): Promise<TemplateState>;

  /** What a template version asks for: the server ignores unknown names, so compare first. */
  templateParameters(versionId: string, call?: CallOptions): Promise<readonly TemplateParameter[]>;

  /**
   * Makes the workspace, or takes over the one that an earlier attempt made. A name that was deleted before is
   * refused, so a late attempt cannot bring back what a teardown removed.
   *
   * @throws `coder_name_taken` held by something with another template, owner or run
   * @throws `coder_name_spent` deleted before
   * @throws `coder_parameter_invalid` the template does not have it, `RUN_PARAMETER` included
   */
  createOrAdopt(request: WorkspaceRequest, call?: CallOptions): Promise<WorkspaceCreated>;

  readById(workspaceId: string, call?: CallOptions): Promise<WorkspaceReading>;

  /** A deleted workspace is `unseen` by name. */
  readByName(owner: string, name: string, call?: CallOptions): Promise<WorkspaceReading>;

  /** Stays readable after its workspace is gone. @throws `coder_unseen` */
  build(buildId: string, call?: CallOptions): Promise<BuildState>;

  buildParameters(buildId: string, call?: CallOptions): Promise<readonly ParameterValue[]>;

  /** Reads, decides, asks: a running workspace is not started again (that would replace its agent). */
  requestBuild(workspaceId: string, request: BuildRequest, call?: CallOptions): Promise<BuildAsked>;

  /** `expect` asks only if the job is still in that state. A cancelled build may end `failed`, and leaves compute. */
  cancelBuild(buildId: string, expect?: 'pending' | 'running', call?: CallOptions): Promise<CancelAsked>;

  /** The proof of invariant 11; without `deleteBuildId` the last build of the workspace is taken. */
  isGone(workspaceId: string, deleteBuildId?: string, call?: CallOptions): Promise<GoneProof>;

  /**
   * Milliseconds, at least 60 000; null turns autostop off. It counts from the next start: the deadline of a running
   * build stays, and once null it stays null.
   */
  setTtl(workspaceId: string, ttlMs: number | null, call?: CallOptions): Promise<void>;

  /** `deadline` is ISO time, at least 30 minutes ahead. Answers the deadline as read back. */
  extend(workspaceId: string, deadline: string, call?: CallOptions): Promise<Extended>;

  /** Every workspace of the owner with the run it carries. Offset pages: read it again each cycle, it is no snapshot. */
  listOwned(owner: string, call?: CallOptions): Promise<readonly OwnedWorkspace[]>;

  /** Those of the owner that carry exactly this run. */
  listByRun(owner: string, run: string, call?: CallOptions): Promise<readonly OwnedWorkspace[]>;

  buildLogs(buildId: string, after?: number, call?: CallOptions): Promise<readonly LogLine[]>;

  agentLogs(agentId: string, after?: number, call?: CallOptions): Promise<readonly LogLine[]>;

  /**
   * Yields when something about the workspace may have changed. A hint without replay, and it does not end when the
   * workspace is deleted: re-read at each, and poll besides. Ends with the signal or the connection.
   */
  watch(workspaceId: string, call?: CallOptions): AsyncIterable<'changed'>;
}
