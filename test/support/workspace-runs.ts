/** Runs of workspaces for tests. */
import { workspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import type { WorkspaceRef } from '../../schemas/workspace/activities.ts';
import { workspaceName } from '../../schemas/workspace/name.ts';

export function runOfTicket(ticket: string): WorkspaceRef {
  const of = { tenant: 'local', ticket, role: 'forge', workspaceGeneration: 1 } as const;
  const run = workspaceWorkflowId(of);
  return { ...of, run, name: workspaceName(run) };
}
