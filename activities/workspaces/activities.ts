/** The activities of workspaces, each bound to what it needs. */
import type { WorkspaceActivities, WorkspaceLocalActivities } from '../../schemas/workspace/activities.ts';
import { askToPush } from './ask-to-push.ts';
import type { WorkspaceDependencies } from './dependencies.ts';
import { advanceDelete, locateWorkspace, orphanWorkspace, quietChats, sweepCompute } from './destroy.ts';
import { observeProvisioning, watchWorkspace } from './observe.ts';
import { refuseWorkspaceCredentials } from './refuse.ts';
import { createWorkspace, planWorkspace, resolveTemplate, writeWorkspaceCredentials } from './provision.ts';
import { withPulse } from './pulse.ts';

export function workspaceActivities(needs: WorkspaceDependencies): WorkspaceLocalActivities & WorkspaceActivities {
  const { lifecycle } = needs;
  return {
    planWorkspace: (input) => planWorkspace(needs, input),
    recordWorkspace: (write) => lifecycle.recordLifecycle(write),
    tellSlots: (tenant, role, message) => needs.signalSlots(tenant, role, message),
    writeWorkspaceCredentials: (request) => writeWorkspaceCredentials(needs, request),
    refuseWorkspaceCredentials: (workspace, ids) => refuseWorkspaceCredentials(needs, workspace, ids),
    openRecovery: (tenant, record) => lifecycle.openRecovery(tenant, record),
    closeRecovery: (tenant, run) => lifecycle.closeRecovery(tenant, run),
    writeIncident: (tenant, record) => lifecycle.writeIncident(tenant, record),
    readUnprovenIncident: async (tenant, id) => {
      const incident = await lifecycle.readIncident(tenant, id);
      return incident?.state === 'open' || incident?.state === 'closed' ? incident : null;
    },
    projectSlots: (tenant, view) => lifecycle.writeSlots(tenant, view),
    resolveTemplate: (_workspace, plan) => withPulse((pulse) => resolveTemplate(needs, plan, pulse)),
    // Not broken off by a cancel: what was sent may be done all the same, and a teardown has to find it then.
    createWorkspace: (request) => withPulse(() => createWorkspace(needs, request)),
    observeProvisioning: (look) => withPulse((pulse) => observeProvisioning(needs, look, pulse)),
    watchWorkspace: (look) => withPulse((pulse) => watchWorkspace(needs, look, pulse)),
    askToPush: (request) => withPulse((pulse) => askToPush(needs, request, pulse)),
    quietChats: (run) => withPulse((pulse) => quietChats(needs, run, pulse)),
    locateWorkspace: (workspace) => withPulse((pulse) => locateWorkspace(needs, workspace, pulse)),
    advanceDelete: (look) => withPulse((pulse) => advanceDelete(needs, look, pulse)),
    sweepCompute: (workspace) => withPulse(({ signal }) => sweepCompute(needs, workspace, signal)),
    orphanWorkspace: (workspace, coderWorkspaceId, by) =>
      withPulse((pulse) => orphanWorkspace(needs, workspace, coderWorkspaceId, by, pulse)),
  };
}
