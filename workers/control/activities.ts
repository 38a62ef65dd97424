/** The control worker's activities: each bound to what it needs. */
import type { Client } from '@temporalio/client';
import { cancelRunning, revokePair, writeKillSwitch } from '../../activities/pair/close.ts';
import type { PairDependencies } from '../../activities/pair/dependencies.ts';
import { importRepository, recordPair } from '../../activities/pair/open.ts';
import type { VerifyDependencies } from '../../activities/verify/dependencies.ts';
import { endAbandonedRuns, type ClosedVerify } from '../../activities/verify/abandoned.ts';
import { endRun } from '../../activities/verify/end.ts';
import { prepareRun } from '../../activities/verify/prepare.ts';
import { announcePhase, takeTurn } from '../../activities/verify/turn.ts';
import { checkedName } from '../../schemas/names.ts';
import type { PairActivities } from '../../schemas/pair-activities.ts';
import type { ReconcileActivities } from '../../schemas/reconcile.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import { VERIFY_SIGNALS, type VerifyActivities, type VerifyLocalActivities } from '../../schemas/verify/activities.ts';
import { GATEWAY_WORKFLOWS } from '../../schemas/verify/workflow.ts';

export type ControlDependencies = Omit<VerifyDependencies, 'nudge'> &
  Pick<PairDependencies, 'incomingDir'> & { readonly temporal: Client };

export type ControlActivities = VerifyLocalActivities & VerifyActivities & PairActivities & ReconcileActivities;

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
  return {
    prepareRun: (accepted) => prepareRun(verify, accepted),
    takeTurn: (request) => takeTurn(verify, request),
    announcePhase: (notice) => announcePhase(verify, notice),
    currentHead: (tenant, name) => given.store.readHead(tenant, name),
    endRun: (ending) => endRun(verify, ending),
    importRepository: (request) => importRepository(pair, request),
    recordPair: (records) => recordPair(pair, records),
    revokePair: (request) => revokePair(pair, request),
    writeKillSwitch: (write) => writeKillSwitch(pair, write),
    cancelRunning: (tenant) => cancelRunning(pair, tenant),
    endAbandonedRuns: (tenant) => endAbandonedRuns(verify, (of) => listAbandoned(temporal, of), tenant),
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
