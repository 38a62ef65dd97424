/**
 * `reconcile`: started by a Schedule, it finds what a terminated, reset or failed workflow left behind. Runs no `finally` can
 * cover are ended here: without it their claim would be joined for ever.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { ReconcileActivities, ReconcileInput, ReconcileOutcome } from '../../schemas/reconcile.ts';

const { endAbandonedRuns } = proxyActivities<ReconcileActivities>({
  startToCloseTimeout: '60s',
  // The next round comes by itself; a round that hangs would hold it up.
  retry: { initialInterval: '1s', maximumAttempts: 3 },
});

export async function reconcile({ tenant }: ReconcileInput): Promise<ReconcileOutcome> {
  return { abandoned: await endAbandonedRuns(tenant) };
}
