/** A Coder build as the control plane keeps it: what was asked, how far it is, and the agents it left. */

export type Transition = 'start' | 'stop' | 'delete';

/** `unknown` is in the server's own list; it was never seen. */
export type JobStatus = 'pending' | 'running' | 'succeeded' | 'canceling' | 'canceled' | 'failed' | 'unknown';

export type AgentStatus = 'connecting' | 'connected' | 'disconnected' | 'timeout';

export type AgentLifecycle =
  | 'created'
  | 'starting'
  | 'start_timeout'
  | 'start_error'
  | 'ready'
  | 'shutting_down'
  | 'shutdown_timeout'
  | 'shutdown_error'
  | 'off';

export interface AgentState {
  readonly id: string;
  readonly name: string;
  /** Set for a sub-agent; those have no say in readiness. */
  readonly parentId: string | null;
  readonly status: AgentStatus;
  readonly lifecycle: AgentLifecycle;
}

export interface BuildState {
  readonly id: string;
  readonly workspaceId: string;
  /** 1 for the first build of a workspace. */
  readonly number: number;
  readonly transition: Transition;
  readonly job: JobStatus;
  /** Why the job failed, for people; empty when it did not. */
  readonly jobError: string;
  /** The server's code of the failure (`INSUFFICIENT_QUOTA`); empty when there is none. */
  readonly jobErrorCode: string;
  readonly reason: string;
  readonly templateVersionId: string;
  /** When Coder stops it, ISO time; null means never. A stop build carries one too. */
  readonly deadline: string | null;
  readonly queuePosition: number;
  readonly queueSize: number;
  /**
   * Provisioners that could take the job, as the answer that made it says: 0 there means that it never starts. A read says 0
   * whatever there is (recorded), so nothing follows from it.
   */
  readonly provisionersAvailable: number;
  readonly agents: readonly AgentState[];
}

/** True once the job cannot change any more. */
export function hasEnded(job: JobStatus): boolean {
  switch (job) {
    case 'succeeded':
    case 'failed':
    case 'canceled':
      return true;
    case 'pending':
    case 'running':
    case 'canceling':
    case 'unknown':
      return false;
  }
}

export type Readiness = 'building' | 'connecting' | 'ready' | 'failed' | 'lost' | 'not_started';

/**
 * How far a workspace is from being usable. The server's own `running` only says that Terraform is done, and its
 * `healthy` is true while nothing is there, so neither is read. `failed` is terminal; `lost` is an agent that was
 * there and is not now.
 */
export function readiness(build: BuildState): Readiness {
  if (build.transition !== 'start') return 'not_started';
  if (!hasEnded(build.job)) return 'building';
  if (build.job !== 'succeeded') return 'failed';
  const agents = build.agents.filter((agent) => agent.parentId === null);
  if (agents.some(neverReady)) return 'failed';
  if (agents.some((agent) => agent.status === 'disconnected')) return 'lost';
  const usable = agents.length > 0 && agents.every((a) => a.status === 'connected' && a.lifecycle === 'ready');
  return usable ? 'ready' : 'connecting';
}

function neverReady({ status, lifecycle }: AgentState): boolean {
  if (status === 'timeout') return true;
  switch (lifecycle) {
    case 'start_timeout':
    case 'start_error':
    case 'shutting_down':
    case 'shutdown_timeout':
    case 'shutdown_error':
    case 'off':
      return true;
    case 'created':
    case 'starting':
    case 'ready':
      return false;
  }
}
