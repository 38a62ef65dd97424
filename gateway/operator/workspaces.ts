/** Workspaces and incidents as an operator sees and ends them. */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { LifecycleReader } from '../../activities/store/lifecycle-port.ts';
import type { TicketReader } from '../../activities/store/tickets.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { checkedName } from '../../schemas/names.ts';
import type {
  IncidentListAnswer,
  IncidentRuledAnswer,
  RulingRequest,
  TeardownRequest,
  WorkspaceAnswer,
  WorkspaceListAnswer,
} from '../../schemas/operator-api.ts';
import { isTerminal } from '../../schemas/ticket/phase.ts';
import { CLOSE_INCIDENT_WORKFLOW, type CloseIncidentInput } from '../../schemas/ticket/workflow.ts';
import { closeIncidentWorkflowId } from '../../schemas/workflow-ids.ts';
import type { IncidentRecord, WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import {
  WORKSPACE_SIGNALS,
  WORKSPACE_UPDATES,
  type IncidentRuled,
  type IncidentRuling,
  type WorkspaceRelease,
} from '../../schemas/workspace/workflow.ts';
import type { Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { temporalFailure } from '../temporal.ts';
import { decideTicket } from './tickets.ts';
import { runControlWorkflow } from './workflows.ts';

const CALL_MS = 10_000;

export async function listWorkspaces(
  lifecycle: LifecycleReader,
  tenant: string,
  limit: number,
): Promise<WorkspaceListAnswer> {
  return { schema: 'portcullis/workspace-list/v1', items: await lifecycle.listWorkspaces(tenant, limit) };
}

/** @throws `not_found` */
export async function showWorkspace(lifecycle: LifecycleReader, tenant: string, id: string): Promise<WorkspaceAnswer> {
  return { schema: 'portcullis/workspace-view/v1', workspace: await known(lifecycle, tenant, id) };
}

/** Asks for the end; the workspace is gone when Coder says so. @throws `not_found`, `state_conflict` when it is over */
export async function tearDown(
  ctx: GatewayContext,
  lifecycle: LifecycleReader,
  by: Principal,
  id: string,
  { reason }: TeardownRequest,
): Promise<WorkspaceAnswer> {
  const workspace = await known(lifecycle, by.tenant, id);
  const release: WorkspaceRelease = { trigger: 'manual', reason: `${reason} (${by.id})` };
  try {
    await ctx.temporal.withDeadline(Date.now() + CALL_MS, () =>
      ctx.temporal.workflow.getHandle(workspace.run).signal(WORKSPACE_SIGNALS.release, release),
    );
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError)
      throw portcullisError('state_conflict', { what: `The workspace ${id}` });
    throw temporalFailure(thrown);
  }
  return { schema: 'portcullis/workspace-view/v1', workspace };
}

export async function listIncidents(
  lifecycle: LifecycleReader,
  tenant: string,
  limit: number,
): Promise<IncidentListAnswer> {
  return { schema: 'portcullis/incident-list/v1', items: await lifecycle.listIncidents(tenant, limit) };
}

/** @throws `not_found`, `state_conflict` for an incident that is closed, `schema_invalid` for a ruling that it does not take */
export async function rule(
  ctx: GatewayContext,
  { lifecycle, tickets }: { readonly lifecycle: LifecycleReader; readonly tickets: TicketReader },
  by: Principal,
  id: string,
  request: RulingRequest,
): Promise<IncidentRuledAnswer> {
  const incident = await lifecycle.readIncident(by.tenant, checkedName('incident', id));
  if (incident === null) throw portcullisError('not_found', { what: 'incident', id });
  if (incident.kind === 'landing') return await ruleOnLanding(ctx, tickets, by, incident, request);
  const ruling: IncidentRuling = { ...request, by: by.id };
  try {
    const { taken } = await ctx.temporal.withDeadline(Date.now() + CALL_MS, () =>
      ctx.temporal.workflow
        .getHandle(incident.run)
        .executeUpdate<IncidentRuled, [IncidentRuling]>(WORKSPACE_UPDATES.resolveIncident, { args: [ruling] }),
    );
    return { schema: 'portcullis/incident-ruled/v1', incident: id, taken };
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError)
      throw portcullisError('state_conflict', { what: `The incident ${id}` });
    throw temporalFailure(thrown);
  }
}

/** The ticket waits for exactly this ruling, and goes on with it; of one that has ended, it is the last thing on record. */
async function ruleOnLanding(
  ctx: GatewayContext,
  tickets: TicketReader,
  by: Principal,
  { id, ticket, closedAt }: IncidentRecord,
  { ruling, reason }: RulingRequest,
): Promise<IncidentRuledAnswer> {
  if (ruling !== 'close') {
    throw portcullisError('schema_invalid', {
      path: 'ruling',
      reason: 'can only be close: what has landed stays landed',
    });
  }
  const record = await tickets.readTicket(by.tenant, ticket);
  if (record !== null && isTerminal(record.state.phase) && closedAt === null) {
    await closeIncident(ctx, { tenant: by.tenant, incident: id, ruling: { ruling, by: by.id, reason } });
    return { schema: 'portcullis/incident-ruled/v1', incident: id, taken: true };
  }
  const stop = record?.state.stop ?? null;
  if (record === null || stop?.cause !== 'landing_incident' || stop.detail !== id) {
    throw portcullisError('state_conflict', { what: `The incident ${id}` });
  }
  await decideTicket(ctx, by, ticket, { decision: 'retry', reason, revision: record.state.revision });
  return { schema: 'portcullis/incident-ruled/v1', incident: id, taken: true };
}

async function closeIncident(ctx: GatewayContext, input: CloseIncidentInput): Promise<void> {
  const { tenant, incident } = input;
  await runControlWorkflow<null>(ctx, {
    type: CLOSE_INCIDENT_WORKFLOW,
    workflowId: closeIncidentWorkflowId(input),
    tenant,
    pair: null,
    input,
    summary: `close ${incident}`,
    waitMs: CALL_MS,
  });
}

async function known(lifecycle: LifecycleReader, tenant: string, id: string): Promise<WorkspaceRecord> {
  const workspace = await lifecycle.readWorkspace(tenant, checkedName('workspace', id));
  if (workspace === null) throw portcullisError('not_found', { what: 'workspace', id });
  return workspace;
}
