/** One round of the reconciler: Coder's list first, then a look at each owner, then what follows from both. */
import type { ReconcileAction } from '../../policies/workspaces/reconcile.ts';
import type { WorkspaceRound } from '../../schemas/reconcile.ts';
import { parseWorkspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import { workspaceName } from '../../schemas/workspace/name.ts';
import type { WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import type { SlotsView } from '../../schemas/workspace/slots.ts';
import { WORKSPACE_ROLES, type WorkspaceRole } from '../../schemas/workspace/workflow.ts';
import type { WorkspaceDependencies } from './dependencies.ts';
import type { Pulse } from './pulse.ts';
import { decideOnDescribed, type RunLooks } from './run-states.ts';

/** What the round does through Temporal. Each may be repeated, and starting what runs already changes nothing. */
export interface WorkspaceWorkflows extends Omit<RunLooks, 'describe'> {
  /** Null when no slots of the role are open. */
  readonly slotsView: (tenant: string, role: WorkspaceRole) => Promise<SlotsView | null>;
  /** Under the id of the closed owner: never beside one that runs. */
  readonly startDestroyer: (record: WorkspaceRecord) => Promise<void>;
  readonly startStrayDestroyer: (tenant: string, coderWorkspaceId: string, name: string) => Promise<void>;
  readonly cancel: (workflowId: string) => Promise<void>;
  readonly tellVanished: (workflowId: string) => Promise<void>;
}

/** Null when no Coder server is set up. `tenants`: every one that has a reconciler beside this one's. */
export async function reconcileWorkspaces(
  needs: WorkspaceDependencies,
  workflows: WorkspaceWorkflows,
  { tenant, tenants }: { readonly tenant: string; readonly tenants: readonly string[] },
  pulse: Pulse,
): Promise<WorkspaceRound | null> {
  const { coder, lifecycle } = needs;
  if (coder === null) return null;
  const listed = await coder.port.listOwned(coder.owner, pulse);
  const [records, suspects, views] = await Promise.all([
    lifecycle.listOpenWorkspaces(tenant),
    lifecycle.readSuspects(tenant),
    Promise.all(WORKSPACE_ROLES.map((role) => workflows.slotsView(tenant, role))),
  ]);
  const open = new Set(records.map(({ id }) => id));
  const owned = await Promise.all(
    listed.map(async ({ workspace: { id, name }, run }) => {
      // Few are in no open record: what is over and not gone yet, and what is not ours.
      const recorded = open.has(name) || (run !== null && (await lifecycle.readWorkspace(tenant, name)) !== null);
      return { coderWorkspaceId: id, name, run, recorded };
    }),
  );
  const slots = views.filter((view) => view !== null);
  const decision = await decideOnDescribed(
    { ...workflows, describe: needs.describe },
    { tenant, served: tenants, owned, records, slots },
    suspects,
  );
  // Before acting: a round that dies on the way is repeated by the next one, whatever it got done.
  await lifecycle.writeSuspects(tenant, decision.suspects);
  for (const action of decision.actions) await act(needs, workflows, tenant, action);
  return { seen: owned.length, suspected: decision.suspects.length, acted: decision.actions.length };
}

async function act(
  needs: WorkspaceDependencies,
  workflows: WorkspaceWorkflows,
  tenant: string,
  action: ReconcileAction,
): Promise<void> {
  switch (action.kind) {
    case 'destroy': {
      await destroy(needs, workflows, tenant, action);
      return;
    }
    case 'destroy_stray': {
      await workflows.startStrayDestroyer(tenant, action.coderWorkspaceId, action.name);
      return;
    }
    case 'cancel': {
      await workflows.cancel(action.run);
      return;
    }
    case 'tell_vanished': {
      await workflows.tellVanished(action.run);
      return;
    }
    case 'free_slot': {
      await needs.signalSlots(tenant, action.role, {
        kind: 'release',
        holder: action.holder,
        because: 'never_recorded',
      });
      return;
    }
    case 'hold_slot':
    case 'ask_slot': {
      const { role, holder } = action;
      const capacity = needs.registry.registry.agents[role].maxWorkers;
      const kind = action.kind === 'hold_slot' ? 'held' : 'request';
      await needs.signalSlots(tenant, role, { kind, holder, capacity });
      return;
    }
    case 'quarantine_slot': {
      await needs.signalSlots(tenant, action.role, { kind: 'quarantine', holder: action.holder });
      return;
    }
  }
}

async function destroy(
  needs: WorkspaceDependencies,
  workflows: WorkspaceWorkflows,
  tenant: string,
  { run, coderWorkspaceId }: Extract<ReconcileAction, { kind: 'destroy' }>,
): Promise<void> {
  const known = await needs.lifecycle.readWorkspace(tenant, workspaceName(run));
  const record = known ?? unknownRecord(run, await needs.store.now());
  await needs.lifecycle.openRecovery(tenant, {
    schema: 'portcullis/recovery/v1',
    run,
    kind: 'orphan',
    ticket: record.ticket,
    workspace: record.id,
    attempts: 0,
    reason: 'owner_closed',
    openedAt: await needs.store.now(),
  });
  await workflows.startDestroyer({ ...record, coderWorkspaceId: coderWorkspaceId ?? record.coderWorkspaceId });
}

/** What a run says by itself, for a workspace of which the store knows nothing. */
function unknownRecord(run: string, now: number): WorkspaceRecord {
  const { tenant, ticket, role, workspaceGeneration } = parseWorkspaceWorkflowId(run);
  return {
    schema: 'portcullis/workspace/v1',
    id: workspaceName(run),
    run,
    tenant,
    ticket,
    role,
    workspaceGeneration,
    execution: { id: 'unknown', generation: 0 },
    purpose: 'unknown: the store has no record of it',
    owner: '',
    state: 'ending',
    phase: 'teardown',
    waitingOn: 'reconciler',
    detail: '',
    coderWorkspaceId: null,
    credentials: [],
    startedAt: now,
    readyAt: null,
    deadline: null,
    latestDeadline: null,
    trigger: null,
    endedAt: null,
  };
}
