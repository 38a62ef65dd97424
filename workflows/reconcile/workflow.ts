/**
 * `reconcile`: started by a Schedule, it finds what a terminated, reset or failed workflow left behind. Runs no `finally` can
 * cover are ended here: without it their claim would be joined, and their workspace would live, for ever.
 */
import { patched, proxyActivities } from '@temporalio/workflow';
import type { ReconcileActivities, ReconcileInput, ReconcileOutcome } from '../../schemas/reconcile.ts';

const { endAbandonedRuns } = proxyActivities<ReconcileActivities>({
  startToCloseTimeout: '60s',
  // The next round comes by itself; a round that hangs would hold it up.
  retry: { initialInterval: '1s', maximumAttempts: 3 },
});
const { reconcileWorkspaces } = proxyActivities<ReconcileActivities>({
  startToCloseTimeout: '120s',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '1s', maximumAttempts: 2 },
});

export async function reconcile({ tenant }: ReconcileInput): Promise<ReconcileOutcome> {
  const abandoned = await endAbandonedRuns(tenant);
  // Rounds that were recorded before there were workspaces.
  if (!patched('reconcile-workspaces')) return { abandoned };
  return { abandoned, workspaces: await reconcileWorkspaces(tenant) };
}
