/** The templates of the four roles that have workspaces, with the settings that worker templates need. */
import { TEMPLATE_PARAMETERS } from '../../schemas/workspace/parameters.ts';
import type { WorkspaceRole } from '../../schemas/workspace/workflow.ts';
import { FAULT_PARAMETERS } from './faults.ts';
import type { SeedTemplate } from './seed.ts';
import type { Parameter } from './state/records.ts';

/** Template of each role (spec/workspaces.md section 1). */
export const ROLE_TEMPLATES: Readonly<Record<WorkspaceRole, string>> = {
  forge: 'development',
  sentinel: 'evaluation',
  verifier: 'verifier',
  lore: 'documentation',
};

/** A backstop behind our own timer: longer than the longest of it. */
const TTL_MS = 12 * 60 * 60 * 1000;

export function roleTemplates(): readonly SeedTemplate[] {
  const required: readonly string[] = [TEMPLATE_PARAMETERS.run, TEMPLATE_PARAMETERS.tenant];
  const ours = Object.values(TEMPLATE_PARAMETERS).map((name) => textParameter(name, required.includes(name)));
  return Object.entries(ROLE_TEMPLATES).map(([role, name]) => ({
    name,
    displayName: `${name[0]?.toUpperCase() ?? ''}${name.slice(1)}`,
    description: `Workspaces of ${role}.`,
    parameters: [...ours, ...FAULT_PARAMETERS],
    defaultTtlMs: TTL_MS,
    // Activity must not keep a workspace alive, and who owns it must be able to cancel its builds.
    activityBumpMs: 0,
    userMayCancel: true,
  }));
}

function textParameter(name: string, required: boolean): Parameter {
  const shape = { type: 'string', formType: 'input', mutable: true, min: null, max: null, defaultValue: '' } as const;
  return { ...shape, name, required, options: [] };
}
