/**
 * The gate worker: activities only, on the gate's own queue, with the gate's own key and store user. It is the only process
 * that can write a decision.
 */
import { NativeConnection, Worker } from '@temporalio/worker';
import { anchorGrowth } from '../../activities/gate/anchor.ts';
import { evaluateSubject } from '../../activities/gate/evaluate.ts';
import { loadOrCreateSigningKey } from '../../activities/signing/keys.ts';
import { connectStore } from '../../activities/store/connect.ts';
import { auditReader } from '../../activities/store/audit-chain.ts';
import { decisionStore } from '../../activities/store/decisions.ts';
import type { GateActivities } from '../../schemas/gate/activities.ts';
import { gateQueue } from '../../schemas/queues.ts';
import { activityFailures } from '../activity-failures.ts';
import { runWorkers, type RunningWorkers } from '../run-workers.ts';

export interface GateWorkerSettings {
  readonly tenants: readonly string[];
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly store: { readonly url: string; readonly password: string };
  /** PEM file of the key that signs decisions and anchors; made when missing. */
  readonly gateKeyFile: string;
}

export interface RunningGateWorker extends RunningWorkers {
  isReady(): boolean;
}

/** @throws `store_unavailable`, `store_unsafe`, `setting_invalid` */
export async function startGateWorker(settings: GateWorkerSettings): Promise<RunningGateWorker> {
  const [connection, store, key] = await Promise.all([
    NativeConnection.connect({ address: settings.temporalAddress }),
    connectStore({ url: settings.store.url, user: 'gate', password: settings.store.password }),
    loadOrCreateSigningKey(settings.gateKeyFile),
  ]);
  const chain = auditReader(store);
  const needs = { store: decisionStore(store), chain, key };
  const activities: GateActivities = {
    evaluateSubject: (request) => evaluateSubject(needs, request),
    anchorAudit: (of) => anchorGrowth(chain, key, of),
  };
  const workers = await Promise.all(
    settings.tenants.map((tenant) =>
      Worker.create({
        connection,
        namespace: settings.namespace,
        taskQueue: gateQueue(tenant),
        activities: { ...activities },
        interceptors: { activity: [activityFailures] },
        shutdownGraceTime: '5s',
      }),
    ),
  );
  const running = runWorkers(workers);
  return {
    ended: running.ended,
    isReady: () => store.isBelieved() && workers.every((worker) => worker.getState() === 'RUNNING'),
    async close() {
      await running.close();
      await Promise.all([connection.close(), store.close()]);
    },
  };
}
