/** What an agent is told of itself, of what is asked of it, and, a reviewer, the token of its approval. */
import { readApproval } from '../../activities/store/approvals.ts';
import type { HarnessContext } from '../../schemas/harness-api.ts';
import type { Principal } from '../authority/authenticate.ts';
import { isBoundTo } from './approvals.ts';
import { assignmentOf, type HarnessContextParts } from './seat.ts';
import { approvalToken } from './token.ts';

export async function harnessContext(parts: HarnessContextParts, agent: Principal): Promise<HarnessContext> {
  const assignment = await assignmentOf(parts, agent);
  const { tenant, pair, role, workspace, workspaceGeneration } = agent;
  return {
    schema: 'portcullis/harness-context/v1',
    tenant,
    pair,
    role,
    workspace,
    workspaceGeneration,
    assignment,
    approval: await approvalOf(parts, agent, assignment?.approvalId ?? null),
  };
}

/** Only to the workspace that the binding names: an id in an assignment alone is worth nothing. */
async function approvalOf(
  { ctx, connection }: HarnessContextParts,
  agent: Principal,
  id: string | null,
): Promise<HarnessContext['approval']> {
  if (id === null || agent.role !== 'sentinel') return null;
  const binding = await readApproval(connection, agent.tenant, id);
  if (binding === null || !isBoundTo(binding, agent)) return null;
  return { id, token: approvalToken(ctx.keys.approvalKey, agent.tenant, id), expiresAt: binding.expiresAt };
}
