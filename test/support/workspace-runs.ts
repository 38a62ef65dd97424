/** Runs and records of workspaces for tests. */
import { workspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import type { WorkspaceRef } from '../../schemas/workspace/activities.ts';
import type { WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import { workspaceName } from '../../schemas/workspace/name.ts';

export function runOfTicket(ticket: string): WorkspaceRef {
  const of = { tenant: 'local', ticket, role: 'forge', workspaceGeneration: 1 } as const;
  const run = workspaceWorkflowId(of);
  return { ...of, run, name: workspaceName(run) };
}

/** One of FORGE that works, of the ticket T-1, unless changed. */
export function recordOf(run: string, change: Partial<WorkspaceRecord> = {}): WorkspaceRecord {
  return {
    schema: 'portcullis/workspace/v1',
    id: workspaceName(run),
    run,
    tenant: 'local',
    ticket: 'T-1',
    role: 'forge',
    workspaceGeneration: 1,
    execution: { id: 'e1', generation: 1 },
    purpose: 'building',
    owner: 'ticket/local/T-1',
    state: 'ready',
    phase: 'execute',
    waitingOn: 'release',
    detail: '',
    coderWorkspaceId: `w-${run}`,
    credentials: [],
    startedAt: 0,
    readyAt: 0,
    deadline: 0,
    latestDeadline: 0,
    trigger: null,
    endedAt: null,
    ...change,
  };
}
