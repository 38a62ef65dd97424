/** The control worker's activities: each bound to what it needs. */
import type { Client } from '@temporalio/client';
import { cancelRunning, revokePair, writeKillSwitch } from '../../activities/pair/close.ts';
import type { PairDependencies } from '../../activities/pair/dependencies.ts';
import { importRepository, recordPair } from '../../activities/pair/open.ts';
import type { VerifyDependencies } from '../../activities/verify/dependencies.ts';
import { endRun } from '../../activities/verify/end.ts';
import { prepareRun } from '../../activities/verify/prepare.ts';
import { announcePhase, takeTurn } from '../../activities/verify/turn.ts';
import { checkedName } from '../../schemas/names.ts';
import type { PairActivities } from '../../schemas/pair-activities.ts';
import { VERIFY_SIGNALS, type VerifyActivities, type VerifyLocalActivities } from '../../schemas/verify/activities.ts';
import { GATEWAY_WORKFLOWS } from '../../schemas/verify/workflow.ts';

export type ControlDependencies = Omit<VerifyDependencies, 'nudge'> &
  Pick<PairDependencies, 'incomingDir'> & { readonly temporal: Client };

export type ControlActivities = VerifyLocalActivities & VerifyActivities & PairActivities;

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
  };
}

async function* listRunning(temporal: Client, tenant: string): AsyncIterable<string> {
  // A tenant's name has no quote in it: it was checked, and is checked here again.
  const query = `WorkflowType='${GATEWAY_WORKFLOWS.verify}' AND Tenant='${checkedName('tenant', tenant)}' AND ExecutionStatus='Running'`;
  for await (const { workflowId } of temporal.workflow.list({ query })) yield workflowId;
}
