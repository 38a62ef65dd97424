/** Whether each role has a model that its workspace can reach, as far as this machine's files say. No host is asked. */
import { PortcullisError } from '../../schemas/errors.ts';
import type { WorkspaceRegistry } from '../../schemas/workspace/registry.ts';
import { readModelHosts } from '../../workers/egress/model-hosts.ts';
import { fail, ok, warn, type Check } from './check.ts';

const NAME = 'model hosts';
const HOW = 'See docs/how-to/use-another-agent.md.';

/** `file`: of the setting `egress.models`; `scripted`: whether the agent is one that asks no model. */
export async function checkModels(file: string | null, registry: WorkspaceRegistry, scripted: boolean): Promise<Check> {
  if (file === null) {
    const found = 'none is configured (egress.models): no CLI in a workspace can ask a model';
    return scripted ? ok(NAME, `${found}; the scripted agent needs none`) : warn(NAME, found, HOW);
  }
  try {
    const hosts = await readModelHosts(file);
    const missing = Object.entries(registry.agents).flatMap(([role, { engine, model }]) =>
      engine === 'command' && model !== null && !hosts.has(model) ? [`${role} wants ${model}`] : [],
    );
    const named = [...hosts.values()].map(({ name, base }) => `${name} at ${base.host}`).join(', ');
    if (missing.length === 0) return ok(NAME, `${named}; each key is in a file that only you can read`);
    return warn(NAME, `${named}; without a host: ${missing.join(', ')}`, HOW);
  } catch (error) {
    return fail(NAME, error instanceof PortcullisError ? error.message : String(error), HOW);
  }
}
