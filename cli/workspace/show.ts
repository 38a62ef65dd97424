/** `workspace list`, `show`, `teardown`, and incidents. */
import type { WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { duration, table, type Output, type Style } from '../output.ts';

const STYLES = {
  waiting: 'dim',
  provisioning: 'strong',
  ready: 'good',
  ending: 'strong',
  quarantined: 'bad',
  gone: 'dim',
} as const satisfies Record<WorkspaceRecord['state'], Style>;

export async function listWorkspaces(context: CliContext, limit: number): Promise<number> {
  const { output } = context;
  const { items } = await operatorClient(context).listWorkspaces({ limit });
  const views = items.map((record) => viewOf(record, Date.now()));
  const rows = views.map((view) => [
    view.id,
    view.ticket,
    view.role,
    String(view.generation),
    output.style(STYLES[view.state], view.state),
    duration(view.ageSeconds * 1000),
    view.ttlSeconds === null ? '' : duration(view.ttlSeconds * 1000),
    view.trigger ?? '',
    view.purpose,
  ]);
  const head = ['WORKSPACE', 'TICKET', 'ROLE', 'GEN', 'STATE', 'AGE', 'TTL', 'TRIGGER', 'FOR'];
  output.result('WorkspaceList', { items: views }, rows.length === 0 ? 'No workspaces.' : table([head, ...rows]));
  return 0;
}

/** @throws `not_found` */
export async function showWorkspace(context: CliContext, id: string): Promise<number> {
  const { workspace } = await operatorClient(context).showWorkspace(id);
  context.output.result('Workspace', { workspace }, workspaceText(workspace, context.output));
  return 0;
}

/** @throws `not_found`, `state_conflict` when it is over */
export async function tearDownWorkspace(context: CliContext, id: string, reason: string): Promise<number> {
  const { workspace } = await operatorClient(context).tearDownWorkspace(id, { reason });
  const text = `asked for the end of ${id}; it is gone when portcullis workspace show ${id} says so`;
  context.output.result('WorkspaceTeardown', { workspace }, text);
  return 0;
}

export async function listIncidents(context: CliContext, limit: number): Promise<number> {
  const { items } = await operatorClient(context).listIncidents({ limit });
  const now = Date.now();
  const rows = items.map(({ id, ticket, role, state, attempts, openedAt, reason }) => [
    id,
    ticket,
    role ?? 'landing',
    state,
    String(attempts),
    `${duration(now - openedAt)} ago`,
    reason,
  ]);
  const head = ['INCIDENT', 'TICKET', 'ROLE', 'STATE', 'ATTEMPTS', 'OPENED', 'REASON'];
  context.output.result('IncidentList', { items }, rows.length === 0 ? 'No incidents.' : table([head, ...rows]));
  return 0;
}

/** @throws `not_found`, `state_conflict` for one that is closed */
export async function resolveIncident(
  context: CliContext,
  id: string,
  ruling: 'retry' | 'orphan' | 'close',
  reason: string,
): Promise<number> {
  const { taken } = await operatorClient(context).ruleIncident(id, { ruling, reason });
  const text = taken ? `${id}: ${ruling} is on record and under way` : `${id}: another ruling was first`;
  context.output.result('IncidentRuled', { incident: id, ruling, taken }, text);
  return taken ? 0 : 1;
}

function viewOf(record: WorkspaceRecord, now: number) {
  const {
    id,
    ticket,
    role,
    workspaceGeneration,
    state,
    startedAt,
    endedAt,
    readyAt,
    deadline,
    trigger,
    owner,
    purpose,
  } = record;
  return {
    id,
    ticket,
    role,
    generation: workspaceGeneration,
    state,
    ageSeconds: Math.floor(((endedAt ?? now) - startedAt) / 1000),
    ttlSeconds: deadline === null || readyAt === null ? null : Math.round((deadline - readyAt) / 1000),
    trigger,
    owner,
    purpose,
  };
}

function workspaceText(workspace: WorkspaceRecord, output: Output): string {
  return table([
    ['workspace', workspace.id],
    ['for', `${workspace.ticket}, ${workspace.role}: ${workspace.purpose}`],
    ['state', `${output.style(STYLES[workspace.state], workspace.state)}, ${workspace.phase}: ${workspace.detail}`],
    ['waits for', workspace.waitingOn],
    ['workflow', workspace.run],
    ['owner', workspace.owner],
    ['at Coder', workspace.coderWorkspaceId ?? 'not created'],
    ['started', new Date(workspace.startedAt).toISOString()],
    [
      'torn down at the latest',
      workspace.deadline === null ? 'not ready yet' : new Date(workspace.deadline).toISOString(),
    ],
    ...(workspace.trigger === null ? [] : [['ended by', workspace.trigger]]),
  ]);
}
