/** Who may spend the installation's money at a model, and which model: an agent, of its role's, while something is asked of it. */
import { portcullisError } from '../../schemas/errors.ts';
import type { WorkspaceRegistry } from '../../schemas/workspace/registry.ts';
import { isWorkspaceRole } from '../../schemas/workspace/workflow.ts';
import type { AuthorizedCall, Principal } from '../authority/authenticate.ts';
import { agentOf, assignmentOf, type HarnessContextParts } from '../harness/seat.ts';

const ACTION = 'ask a model';

export interface ModelSeat {
  readonly agent: Principal;
  /** Name of the model's host, by the registry of workspaces. */
  readonly model: string;
}

/**
 * Asked for each call and again while one is under way. A role whose model runs inside Coder (`engine: chat`) has no way here.
 * @throws `unauthenticated` (also when revoked), `not_allowed` (another use or role, or nothing is asked of it now),
 *   `kill_switch`, `model_refused`, `rate_limited`, `store_unavailable`
 */
export async function modelSeat(
  parts: HarnessContextParts,
  registry: WorkspaceRegistry,
  call: AuthorizedCall,
): Promise<ModelSeat> {
  const agent = await agentOf(parts, call, ['forge', 'sentinel', 'lore'], ACTION);
  const [killSwitch, assignment] = await Promise.all([
    parts.ctx.store.readKillSwitch(agent.tenant),
    assignmentOf(parts, agent),
  ]);
  if (killSwitch !== null) throw portcullisError('kill_switch', { reason: killSwitch.reason });
  if (assignment === null) throw portcullisError('not_allowed', { action: `${ACTION}: nothing is asked of it now` });
  const template = isWorkspaceRole(agent.role) ? registry.agents[agent.role] : null;
  if (template?.engine !== 'command' || template.model === null) {
    throw portcullisError('model_refused', { reason: 'this role has no model that is reached from its workspace' });
  }
  return { agent, model: template.model };
}
