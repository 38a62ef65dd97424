/** What must hold of a workspace registry beyond its shape. A document with a finding is not loaded. */
import { isExecutorRole } from '../../schemas/names.ts';
import type { WorkspaceRegistry, WorkspaceTemplate } from '../../schemas/workspace/registry.ts';
import { WORKSPACE_ROLES, type WorkspaceRole } from '../../schemas/workspace/workflow.ts';

export interface RegistryFinding {
  readonly role: WorkspaceRole;
  readonly problem: string;
}

/** Everything wrong with this registry; empty when it may be used. */
export function lintWorkspaceRegistry(registry: WorkspaceRegistry): readonly RegistryFinding[] {
  return WORKSPACE_ROLES.flatMap((role) =>
    problemsOf(role, registry.agents[role]).map((problem) => ({ role, problem })),
  );
}

function problemsOf(role: WorkspaceRole, agent: WorkspaceTemplate): readonly string[] {
  const problems: string[] = [];
  if (agent.maxTtlSeconds < agent.ttlSeconds) problems.push('max_ttl_seconds is less than ttl_seconds');
  if (agent.executor !== isExecutorRole(role)) {
    problems.push(agent.executor ? 'an executor cannot serve this role' : 'this role needs an executor');
  }
  problems.push(...agentProblems(role, agent), ...overrideProblems(agent));
  // What judges must not be what was judged before: it starts fresh, and cannot change what it judges.
  if ((role === 'sentinel' || role === 'verifier') && agent.per !== 'evaluation') {
    problems.push('it judges, so each evaluation needs a fresh one');
  }
  if ((role === 'sentinel' || role === 'verifier') && !agent.readOnly) problems.push('it judges, so it may not push');
  return problems;
}

function agentProblems(role: WorkspaceRole, { engine, coderModule, model }: WorkspaceTemplate): readonly string[] {
  const problems: string[] = [];
  if ((engine === 'none') !== (role === 'verifier')) {
    problems.push(role === 'verifier' ? 'no agent may be in it' : 'it needs an agent');
  }
  if ((engine === 'command') !== (coderModule !== null))
    problems.push('coder_module goes with the engine command only');
  if ((engine === 'none') !== (model === null)) problems.push('model goes with an agent only');
  return problems;
}

function overrideProblems({ maxTtlSeconds, engine, overrides }: WorkspaceTemplate): readonly string[] {
  const problems: string[] = [];
  const ttl = overrides.ttlSeconds;
  if (ttl !== null && ttl.min > ttl.max) problems.push('overrides.ttl_seconds has its bounds the wrong way round');
  if (ttl !== null && ttl.max > maxTtlSeconds) problems.push('overrides.ttl_seconds reaches beyond max_ttl_seconds');
  if (engine === 'none' && overrides.models.length > 0) problems.push('overrides.models goes with an agent only');
  if (new Set(overrides.models).size < overrides.models.length) problems.push('overrides.models names one twice');
  return problems;
}
