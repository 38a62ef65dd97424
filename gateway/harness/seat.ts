/** Which workspace an agent speaks for, and whether anything is asked of it now. */
import { readAssignment } from '../../activities/store/harness.ts';
import type { StoreConnection } from '../../activities/store/connect.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Assignment } from '../../schemas/harness-api.ts';
import type { Role } from '../../schemas/names.ts';
import { authenticate, requireUse, type AuthorizedCall, type Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';

/** What the harness routes work with; the store is the gateway's own connection. */
export interface HarnessContextParts {
  readonly ctx: GatewayContext;
  readonly connection: StoreConnection;
}

/** An agent that is asked something now. */
export interface Seated {
  readonly agent: Principal;
  readonly assignment: Assignment;
}

/**
 * The agent of a call, of one of these roles.
 * @throws `unauthenticated`, `not_allowed` (another use or role), `rate_limited`, `store_unavailable`
 */
export async function agentOf(
  { ctx }: HarnessContextParts,
  call: AuthorizedCall,
  roles: readonly Role[],
  action: string,
): Promise<Principal> {
  const agent = await authenticate(ctx, call);
  ctx.allowances.calls.spend(`http/${agent.tenant}/${agent.id}`, 1);
  requireUse(agent, ['agent'], action);
  if (!roles.includes(agent.role)) throw portcullisError('not_allowed', { action });
  return agent;
}

/** What this workspace is asked; `null` when nothing is, or when another one has taken its place. */
export async function assignmentOf({ connection }: HarnessContextParts, agent: Principal): Promise<Assignment | null> {
  const assignment = await readAssignment(connection, agent.tenant, agent.pair, agent.role);
  if (assignment?.workspaceGeneration !== agent.workspaceGeneration) return null;
  // Nothing of one execution speaks in the next (invariant 4).
  return assignment.execution.id === agent.execution ? assignment : null;
}

/**
 * The same for a call that only a workspace which is asked something may make.
 * @throws as {@link agentOf}, and `not_allowed` for a workspace that is not asked anything
 */
export async function seatedAgent(
  parts: HarnessContextParts,
  call: AuthorizedCall,
  roles: readonly Role[],
  action: string,
): Promise<Seated> {
  const agent = await agentOf(parts, call, roles, action);
  const assignment = await assignmentOf(parts, agent);
  if (assignment === null) throw portcullisError('not_allowed', { action: `${action}: nothing is asked of it now` });
  return { agent, assignment };
}
