/**
 * The control worker: every workflow, and the activities of the trusted plane (git, store, signing). One Temporal worker for
 * each tenant's queue, all in this process.
 */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { loadGateDocuments } from '../../activities/evidence/gate-documents.ts';
import { registerPolicies } from '../../activities/evidence/policies.ts';
import { publicKeys } from '../../activities/signing/public-keys.ts';
import type { GitRemotes } from '../../activities/git/remote.ts';
import { loadCommandPolicy } from '../../activities/policy/load.ts';
import { loadOrCreateSigningKey } from '../../activities/signing/keys.ts';
import { connectStore } from '../../activities/store/connect.ts';
import { controlStore } from '../../activities/store/control.ts';
import { lifecycleStore } from '../../activities/store/lifecycle.ts';
import { evidenceStore } from '../../activities/store/evidence.ts';
import { mergeLeases } from '../../activities/store/merge-lease.ts';
import { controlQueue } from '../../schemas/queues.ts';
import { activityFailures } from '../activity-failures.ts';
import { runWorkers, type RunningWorkers } from '../run-workers.ts';
import { controlActivities } from './activities.ts';
import { ensureSchedules } from './schedules.ts';
import { bundleWorkflows } from './workflow-bundle.ts';
import { workspaceDependencies, type WorkspaceSettings } from './workspaces.ts';

export interface ControlWorkerSettings extends WorkspaceSettings {
  readonly tenants: readonly string[];
  /** Host and port of Temporal's frontend. */
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly store: { readonly url: string; readonly password: string };
  /** PEM file of the key that signs actions and audit entries; made when missing. */
  readonly actionKeyFile: string;
  /** PEM file with the public half of the gate worker's key; `gate.pub.pem` beside the action key when left out. */
  readonly gatePublicKeyFile?: string;
  /** Documents of the gates; those that come with the program when it is absent. */
  readonly gatePolicyDir?: string;
  readonly repositoriesDir: string;
  readonly incomingDir: string;
  /** Remotes that changes are landed on; none when it is left out. */
  readonly gitRemotes?: GitRemotes;
  readonly commandPolicyDir: string;
  readonly reuseWindowSecs: number;
  /** Seconds between two rounds of the reconciler; 30 unless set. */
  readonly reconcileSecs?: number;
  /** 0 makes each workflow task a replay: finds nondeterminism that golden histories miss. */
  readonly maxCachedWorkflows?: number;
  /** A bundle made before; otherwise the workflows are bundled here. */
  readonly workflowBundle?: WorkflowBundleOption;
}

const NO_REMOTES: GitRemotes = { allowed: [], credentialsFile: null, sshConfigFile: null };

export interface RunningControlWorker extends RunningWorkers {
  /** True while store and workers serve. */
  isReady(): boolean;
}

/** @throws `store_unavailable`, `store_unsafe`, `setting_invalid`, `gate_policy_refused` */
export async function startControlWorker(settings: ControlWorkerSettings): Promise<RunningControlWorker> {
  const { temporalAddress: address, namespace } = settings;
  await mkdir(settings.repositoriesDir, { recursive: true, mode: 0o700 });
  // Bundling takes as long as the connections do: side by side.
  const [workflowBundle, native, connection, store, commandPolicy, actionKey] = await Promise.all([
    settings.workflowBundle ?? bundleWorkflows(),
    NativeConnection.connect({ address }),
    Connection.connect({ address }),
    connectStore({ url: settings.store.url, user: 'control', password: settings.store.password }),
    loadCommandPolicy(settings.commandPolicyDir),
    loadOrCreateSigningKey(settings.actionKeyFile),
  ]);
  const temporal = new Client({ connection, namespace });
  const evidence = evidenceStore(store);
  const gateDocuments = await loadGateDocuments(settings.gatePolicyDir);
  for (const tenant of settings.tenants) await registerPolicies({ evidence, actionKey }, tenant, gateDocuments);
  const control = controlStore(store);
  const workspaces = await workspaceDependencies(
    { store: control, lifecycle: lifecycleStore(store), actionKey, temporal },
    settings,
  );
  const activities = controlActivities({
    store: control,
    connection: store,
    tenants: settings.tenants,
    workspaces,
    evidence,
    gateKeys: publicKeys(settings.gatePublicKeyFile ?? join(dirname(settings.actionKeyFile), 'gate.pub.pem')),
    repositoriesDir: settings.repositoriesDir,
    incomingDir: settings.incomingDir,
    remotes: settings.gitRemotes ?? NO_REMOTES,
    leases: mergeLeases(store),
    commandPolicy,
    actionKey,
    reuseWindowSecs: settings.reuseWindowSecs,
    temporal,
  });
  const workers = await Promise.all(
    settings.tenants.map((tenant) =>
      Worker.create({
        connection: native,
        namespace,
        taskQueue: controlQueue(tenant),
        workflowBundle,
        activities: { ...activities },
        interceptors: { activity: [activityFailures] },
        // A verify owns nothing, so failing beats retrying its code for ever.
        workflowFailureErrorTypes: {
          '*': [],
          verify: ['Error'],
          gate: ['Error'],
          anchor: ['Error'],
          verification: ['Error'],
        },
        shutdownGraceTime: '5s',
        // Each open workspace is watched by an activity that mostly waits; those must not use up the room of the others.
        maxConcurrentActivityTaskExecutions: 1_000,
        // One thread runs them: of more at once, the last would time out before their turn when many tickets start together.
        maxConcurrentWorkflowTaskExecutions: 16,
        ...(settings.maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows: settings.maxCachedWorkflows }),
      }),
    ),
  );
  const running = runWorkers(workers);
  await Promise.all(settings.tenants.map((tenant) => ensureSchedules(temporal, tenant, settings.reconcileSecs ?? 30)));
  return {
    ended: running.ended,
    isReady: () => store.isBelieved() && workers.every((worker) => worker.getState() === 'RUNNING'),
    async close() {
      await running.close();
      await Promise.all([native.close(), connection.close(), store.close()]);
    },
  };
}
