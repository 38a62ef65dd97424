/** The control worker's activities: each bound to what it needs. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { agentActivities } from '../../activities/agent/activities.ts';
import { evidenceActivities } from '../../activities/evidence/activities.ts';
import type { EvidenceDependencies } from '../../activities/evidence/dependencies.ts';
import { gitActivities, type GitDependencies } from '../../activities/git/activities.ts';
import { landingPermission } from '../../activities/git/permission.ts';
import { cancelRunning, revokePair, writeKillSwitch } from '../../activities/pair/close.ts';
import type { PairDependencies } from '../../activities/pair/dependencies.ts';
import { tellTickets, type TellDependencies } from '../../activities/pair/tell-tickets.ts';
import { importRepository, recordPair } from '../../activities/pair/open.ts';
import { ticketActivities } from '../../activities/ticket/activities.ts';
import { writeAssignment } from '../../activities/store/harness.ts';
import { readCredential } from '../../activities/store/credentials.ts';
import { ticketStore } from '../../activities/store/tickets.ts';
import { verificationActivities } from '../../activities/verification/activities.ts';
import type { VerifyDependencies } from '../../activities/verify/dependencies.ts';
import { endAbandonedRuns, type ClosedVerify } from '../../activities/verify/abandoned.ts';
import { endRun } from '../../activities/verify/end.ts';
import { prepareRun } from '../../activities/verify/prepare.ts';
import { announcePhase, takeTurn } from '../../activities/verify/turn.ts';
import { workspaceActivities } from '../../activities/workspaces/activities.ts';
import type { WorkspaceDependencies } from '../../activities/workspaces/dependencies.ts';
import { withPulse } from '../../activities/workspaces/pulse.ts';
import { reconcileWorkspaces } from '../../activities/workspaces/reconcile.ts';
import type { StoreConnection } from '../../activities/store/connect.ts';
import { derivedKey } from '../../activities/content/derived-key.ts';
import type { AgentActivities } from '../../schemas/workspace/agent.ts';
import type { TicketActivities } from '../../schemas/ticket/activities.ts';
import type { VerificationActivities } from '../../schemas/verification/activities.ts';
import type { EvidenceActivities } from '../../schemas/gate/activities.ts';
import type { GitActivities } from '../../schemas/git/activities.ts';
import { checkedName } from '../../schemas/names.ts';
import type { PairActivities } from '../../schemas/pair-activities.ts';
import type { ReconcileActivities } from '../../schemas/reconcile.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import { VERIFY_SIGNALS, type VerifyActivities, type VerifyLocalActivities } from '../../schemas/verify/activities.ts';
import { TICKET_SIGNALS } from '../../schemas/ticket/workflow.ts';
import { GATEWAY_WORKFLOWS } from '../../schemas/verify/workflow.ts';
import { ticketWorkflowId } from '../../schemas/workflow-ids.ts';
import type { WorkspaceActivities, WorkspaceLocalActivities } from '../../schemas/workspace/activities.ts';
import { workspaceWorkflows } from './workspaces.ts';

export type ControlDependencies = Omit<VerifyDependencies, 'nudge'> &
  Pick<PairDependencies, 'incomingDir'> &
  Pick<EvidenceDependencies, 'evidence' | 'gateKeys'> &
  Pick<GitDependencies, 'remotes' | 'leases'> & {
    readonly temporal: Client;
    /** Every tenant of this worker, for a switch of the whole installation. */
    readonly tenants?: readonly string[];
    /** Of the user `control`. */
    readonly connection: StoreConnection;
    readonly workspaces: WorkspaceDependencies;
  };

export type ControlActivities = VerifyLocalActivities &
  VerifyActivities &
  PairActivities &
  ReconcileActivities &
  WorkspaceLocalActivities &
  WorkspaceActivities &
  EvidenceActivities &
  GitActivities &
  VerificationActivities &
  TicketActivities &
  AgentActivities;

export function controlActivities(given: ControlDependencies): ControlActivities {
  const { temporal } = given;
  const verify: VerifyDependencies = {
    ...given,
    nudge: (workflowId) => temporal.workflow.getHandle(workflowId).signal(VERIFY_SIGNALS.placeChanged),
  };
  const pair: PairDependencies = {
    ...given,
    now: () => Date.now(),
    listRunning: (tenant) => listRunning(temporal, tenant),
    cancelWorkflow: async (workflowId) => {
      await temporal.workflow.getHandle(workflowId).cancel();
    },
  };
  const evidence = evidenceActivities(given);
  const git: GitActivities = gitActivities({
    ...given,
    mayLand: (request) =>
      landingPermission(
        {
          reader: given.evidence,
          standing: (of) => evidence.decisionApplies(of),
          describeChange: (of) => git.describeChange(of),
        },
        request,
      ),
  });
  return {
    ...evidence,
    ...git,
    // Git of a large history takes minutes: a heartbeat says sooner that the worker is gone.
    describeChange: (of) => withPulse(() => git.describeChange(of)),
    makeCandidate: (request) => withPulse(() => git.makeCandidate(request)),
    fetchBase: (request) => withPulse(() => git.fetchBase(request)),
    land: (request) => withPulse(() => git.land(request)),
    placeBranch: (of) => withPulse(() => git.placeBranch(of)),
    mirrorBranch: (request) => withPulse(() => git.mirrorBranch(request)),
    ...workspaceActivities(given.workspaces),
    ...agentActivities(given.workspaces),
    ...ticketActivities({
      tickets: ticketStore(given.connection),
      writeAssignment: (tenant, assignment) => writeAssignment(given.connection, tenant, assignment),
      repositoriesDir: given.repositoriesDir,
      evidence: given,
      readCredential: (tenant, id) => readCredential(given.connection, tenant, id),
      incidents: { lifecycle: given.workspaces.lifecycle, store: given.store, actionKey: given.actionKey },
    }),
    ...verificationActivities({
      ...given,
      evidenceStore: given.evidence,
      evidence,
      workforceRevision: given.workspaces.registry.workforceRevision,
      taskIdKey: derivedKey(given.workspaces.claimKey, 'task-id'),
    }),
    prepareRun: (accepted) => prepareRun(verify, accepted),
    takeTurn: (request) => takeTurn(verify, request),
    announcePhase: (notice) => announcePhase(verify, notice),
    currentHead: (tenant, name) => given.store.readHead(tenant, name),
    endRun: (ending) => endRun(verify, ending),
    importRepository: (request) => withPulse(() => importRepository(pair, request)),
    recordPair: (records) => recordPair(pair, records),
    revokePair: (request) => revokePair(pair, request),
    writeKillSwitch: (write) => writeKillSwitch(pair, write),
    cancelRunning: (tenant) => cancelRunning(pair, tenant),
    tellTickets: (of) => tellTickets(telling(given, of.scope), of),
    reconcileWorkspaces: (tenant) =>
      withPulse((pulse) =>
        reconcileWorkspaces(
          given.workspaces,
          workspaceWorkflows(temporal),
          { tenant, tenants: given.tenants ?? [tenant] },
          pulse,
        ),
      ),
    endAbandonedRuns: (tenant) => endAbandonedRuns(verify, (of) => listAbandoned(temporal, of), tenant),
  };
}

function telling({ temporal, connection, tenants }: ControlDependencies, scope: string | null): TellDependencies {
  const tickets = ticketStore(connection);
  return {
    tenants: tenants ?? (scope === null ? [] : [scope]),
    openTickets: (tenant) => tickets.listOpen(tenant),
    forgetTicket: ({ tenant, ticket }) => tickets.forgetOpen(tenant, ticket),
    async tellTicket(of, notice) {
      try {
        await temporal.workflow.getHandle(ticketWorkflowId(of)).signal(TICKET_SIGNALS.killSwitch, notice);
        return true;
      } catch (thrown) {
        if (thrown instanceof WorkflowNotFoundError) return false;
        throw thrown;
      }
    },
  };
}

async function* listRunning(temporal: Client, tenant: string): AsyncIterable<string> {
  const query = `${verifiesOf(tenant)} AND ExecutionStatus='Running'`;
  for await (const { workflowId } of temporal.workflow.list({ query })) yield workflowId;
}

/** Looks at so many closed verifies in one round; more are left to the next. */
const ABANDONED_LIMIT = 200;

async function* listAbandoned(temporal: Client, tenant: string): AsyncIterable<ClosedVerify> {
  const query = `${verifiesOf(tenant)} AND ExecutionStatus!='Running' AND ${SEARCH_ATTRIBUTES.state.name}!='closed'`;
  let seen = 0;
  for await (const { workflowId, memo } of temporal.workflow.list({ query })) {
    seen += 1;
    if (seen > ABANDONED_LIMIT) return;
    // A list lags and decides nothing: what it named is described by its id.
    const { status, closeTime } = await temporal.workflow.getHandle(workflowId).describe();
    const taskId: unknown = memo?.['taskId'];
    if (status.name === 'RUNNING' || closeTime === undefined || typeof taskId !== 'string') continue;
    yield { workflowId, taskId, closedAt: closeTime.getTime() };
  }
}

function verifiesOf(tenant: string): string {
  // A tenant's name has no quote in it: it was checked, and is checked here again.
  return `WorkflowType='${GATEWAY_WORKFLOWS.verify}' AND ${SEARCH_ATTRIBUTES.tenant.name}='${checkedName('tenant', tenant)}'`;
}
