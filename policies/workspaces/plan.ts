/** What a ticket gets when it asks for a workspace: the registry's word, within what it may override. */
import { portcullisError } from '../../schemas/errors.ts';
import { isExecutorRole } from '../../schemas/names.ts';
import type { WorkspacePlan } from '../../schemas/workspace/activities.ts';
import type { LoadedWorkspaceRegistry } from '../../schemas/workspace/registry.ts';
import type { WorkspaceInput } from '../../schemas/workspace/workflow.ts';

/** @throws `workspace_refused` for a TTL out of bounds, or a branch for a role that only reads */
export function planWorkspace(loaded: LoadedWorkspaceRegistry, input: WorkspaceInput): WorkspacePlan {
  const agent = loaded.registry.agents[input.role];
  const { overrides } = agent;
  const ttlSeconds = input.ttlSeconds ?? agent.ttlSeconds;
  if (input.ttlSeconds !== null) {
    const bounds = overrides.ttlSeconds;
    if (bounds === null) throw refused(input, 'its TTL cannot be set by a ticket');
    if (!Number.isSafeInteger(ttlSeconds) || ttlSeconds < bounds.min || ttlSeconds > bounds.max) {
      throw refused(input, `a TTL of ${ttlSeconds} s is not within ${bounds.min} to ${bounds.max} s`);
    }
  }
  if (agent.readOnly && input.source.branch !== null) throw refused(input, 'it may not push, so it has no branch');
  return {
    template: agent.template,
    engine: agent.engine,
    model: agent.model,
    maxWorkers: agent.maxWorkers,
    ttlSeconds,
    maxTtlSeconds: agent.maxTtlSeconds,
    executorRole: agent.executor && isExecutorRole(input.role) ? input.role : null,
    agent: agent.engine !== 'none',
    readOnly: agent.readOnly,
    workforceRevision: loaded.workforceRevision,
  };
}

function refused({ role }: WorkspaceInput, reason: string) {
  return portcullisError('workspace_refused', { role, reason });
}
