import { expect, test } from 'vitest';
import { loadWorkspaceRegistry } from '../../activities/workspaces/registry.ts';
import type { WorkspaceRegistry, WorkspaceTemplate } from '../../schemas/workspace/registry.ts';
import type { WorkspaceInput, WorkspaceRole } from '../../schemas/workspace/workflow.ts';
import { lintWorkspaceRegistry } from './lint.ts';
import { planWorkspace } from './plan.ts';

const loaded = await loadWorkspaceRegistry();

function inputOf(role: WorkspaceRole, change: Partial<WorkspaceInput> = {}): WorkspaceInput {
  return {
    tenant: 'local',
    ticket: 'T-1',
    role,
    workspaceGeneration: 1,
    execution: { id: 'e1', generation: 1 },
    purpose: 'x',
    source: { head: 'a'.repeat(40), branch: null },
    ttlSeconds: null,
    owner: 'ticket/local/T-1',
    ...change,
  };
}

function problemsWith(role: WorkspaceRole, change: Partial<WorkspaceTemplate>): readonly string[] {
  const agents = { ...loaded.registry.agents, [role]: { ...loaded.registry.agents[role], ...change } };
  const registry: WorkspaceRegistry = { ...loaded.registry, agents };
  return lintWorkspaceRegistry(registry).map(({ problem }) => problem);
}

test('the registry that comes with the program has no finding, and a digest that names it', () => {
  expect(lintWorkspaceRegistry(loaded.registry)).toEqual([]);
  expect(loaded.workforceRevision).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test('a ticket sets the TTL within its bounds and no further', () => {
  expect(planWorkspace(loaded, inputOf('forge')).ttlSeconds).toBe(1800);
  expect(planWorkspace(loaded, inputOf('forge', { ttlSeconds: 300 })).ttlSeconds).toBe(300);
  for (const ttlSeconds of [299, 14_401, 300.5, Number.NaN]) {
    expect(() => planWorkspace(loaded, inputOf('forge', { ttlSeconds }))).toThrow(/TTL/);
  }
});

test('[inv-05] a role that judges gets no branch to push to', () => {
  const source = { head: 'a'.repeat(40), branch: 'portcullis/T-1' };
  expect(() => planWorkspace(loaded, inputOf('sentinel', { source }))).toThrow(/may not push/);
  expect(planWorkspace(loaded, inputOf('forge', { source })).executorRole).toBe('forge');
});

test.each([
  ['sentinel', { per: 'ticket' }, 'it judges, so each evaluation needs a fresh one'],
  ['verifier', { readOnly: false }, 'it judges, so it may not push'],
  ['verifier', { engine: 'command', coderModule: 'x', model: 'y' }, 'no agent may be in it'],
  ['lore', { executor: true }, 'an executor cannot serve this role'],
  ['forge', { executor: false }, 'this role needs an executor'],
  ['forge', { maxTtlSeconds: 60 }, 'max_ttl_seconds is less than ttl_seconds'],
  ['forge', { coderModule: null }, 'coder_module goes with the engine command only'],
  [
    'lore',
    { overrides: { ttlSeconds: { min: 60, max: 90_000 }, models: [] } },
    'overrides.ttl_seconds reaches beyond max_ttl_seconds',
  ],
] as const)('a registry in which %s has %o is refused', (role, change, problem) => {
  expect(problemsWith(role, change)).toContain(problem);
});
