/**
 * A world for the A2A front: real gateways, a real store, real Temporal and the real verify workflow. Two things stand in:
 * the commit is not looked up (`prepareRun`), and a scripted executor answers on the seat's own queue, without a door or a
 * sandbox. What is tested is the front.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { loadCommandPolicy } from '../../activities/policy/load.ts';
import { loadRoutingPolicy } from '../../activities/policy/routing.ts';
import { generateSigningKey } from '../../activities/signing/keys.ts';
import { connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { controlStore } from '../../activities/store/control.ts';
import { lifecycleStore } from '../../activities/store/lifecycle.ts';
import { evidenceStore } from '../../activities/store/evidence.ts';
import { gateReader } from '../../activities/store/gate-reader.ts';
import { mergeLeases } from '../../activities/store/merge-lease.ts';
import { gatewayStore } from '../../activities/store/gateway.ts';
import type { ControlStore, GatewayStore } from '../../activities/store/port.ts';
import { storeReader } from '../../activities/store/reader.ts';
import { GatewayClient, type VerifyAsk } from '../../client/gateway-client.ts';
import { a2aRouter, type A2aSettings } from '../../gateway/a2a/router.ts';
import { FEED_SETTINGS } from '../../gateway/a2a/feed.ts';
import { STREAM_SETTINGS } from '../../gateway/a2a/sse.ts';
import { startSweeping } from '../../gateway/a2a/start.ts';
import { makeBearer } from '../../gateway/authority/bearer.ts';
import { buildContext } from '../../gateway/build-context.ts';
import type { GatewayContext } from '../../gateway/context.ts';
import { serveGateway } from '../../gateway/gateway.ts';
import type { GatewayLimits } from '../../gateway/limits.ts';
import { gatewayKeys } from '../../gateway/keys.ts';
import { gatesRouter } from '../../gateway/operator/gates-router.ts';
import { recordsRouter } from '../../gateway/operator/records-router.ts';
import { orchestrationRouter } from '../../gateway/operator/orchestration-router.ts';
import { operatorRouter } from '../../gateway/operator/router.ts';
import { createLogger } from '../../workers/logging.ts';
import type { CredentialRecord } from '../../schemas/credential.ts';
import { controlQueue, executorQueue } from '../../schemas/queues.ts';
import type { SignedAction } from '../../schemas/verify/action.ts';
import type { ExecutorReport } from '../../schemas/verify/report.ts';
import { activityFailures } from '../../workers/activity-failures.ts';
import { controlActivities } from '../../workers/control/activities.ts';
import { workspaceDependencies } from '../../workers/control/workspaces.ts';
import { bundleWorkflows } from '../../workers/control/workflow-bundle.ts';
import { runWorkers } from '../../workers/run-workers.ts';
import { startStoreServer, type StoreServer } from '../support/store-server.ts';
import { executorReport, preparedRun } from '../support/verify-fixture.ts';

export const HEAD = { headSha: 'a'.repeat(40), execution: 'e1', generation: 1 } as const;

export type RunScript = (signed: SignedAction, store: GatewayStore) => Promise<ExecutorReport>;

export interface RunningReplica {
  readonly url: string;
  readonly socketPath: string;
  readonly ctx: GatewayContext;
  close(): Promise<void>;
}

export interface ReplicaSettings extends Partial<A2aSettings> {
  /** Another frontend or namespace of Temporal than the world's. */
  readonly temporalAddress?: string;
  readonly namespace?: string;
  readonly sweeps?: boolean;
  readonly limits?: Partial<GatewayLimits>;
}

export interface World {
  readonly tenant: string;
  readonly server: StoreServer;
  readonly store: GatewayStore;
  readonly control: ControlStore;
  readonly temporal: Client;
  readonly incomingDir: string;
  readonly url: string;
  /** Starts another gateway on the same store and key. */
  replica(settings?: ReplicaSettings): Promise<RunningReplica>;
  /** Writes an active credential and answers its bearer. */
  credential(change: Partial<CredentialRecord> & Pick<CredentialRecord, 'role' | 'use'>): Promise<string>;
  /** Opens a pair whose executor plays this script; answers SENTINEL's bearer. */
  pair(name: string, script?: RunScript): Promise<string>;
  client(bearer: string, url?: string): GatewayClient;
  close(): Promise<void>;
}

export async function openWorld(
  tenant: string,
  settings: { readonly controlWorker?: boolean; readonly maxMemoryBytes?: number } = {},
): Promise<World> {
  const closing: (() => Promise<unknown>)[] = [];
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-a2a-'));
  closing.push(() => rm(directory, { recursive: true, force: true }));
  const server = await startStoreServer({
    tenants: [tenant, 'other'],
    ...(settings.maxMemoryBytes === undefined ? {} : { maxMemoryBytes: settings.maxMemoryBytes }),
  });
  closing.push(() => server.close());
  const connect = async (user: 'control' | 'gateway' | 'reader'): Promise<StoreConnection> => {
    const connection = await connectStore(server.settings(user));
    closing.push(() => connection.close());
    return connection;
  };
  const controlConnection = await connect('control');
  const control = controlStore(controlConnection);
  const store = gatewayStore(await connect('gateway'));
  const address = inject('temporalAddress');
  const connection = await Connection.connect({ address });
  const native = await NativeConnection.connect({ address });
  closing.push(
    () => connection.close(),
    () => native.close(),
  );
  const temporal = new Client({ connection });
  const [commandPolicy, routingPolicy] = await Promise.all([loadCommandPolicy(), loadRoutingPolicy()]);
  const actionKey = generateSigningKey();
  const keys = gatewayKeys(Buffer.alloc(32, 7), { keyId: actionKey.keyId, pem: actionKey.publicPem });
  const incomingDir = join(directory, 'incoming');
  const repositoriesDir = join(directory, 'repositories');

  if (settings.controlWorker !== false) {
    const activities = controlActivities({
      store: control,
      connection: controlConnection,
      evidence: evidenceStore(controlConnection),
      gateKeys: () => Promise.resolve([]),
      remotes: { allowed: [], credentialsFile: null, sshConfigFile: null },
      leases: mergeLeases(controlConnection),
      workspaces: await workspaceDependencies(
        { store: control, lifecycle: lifecycleStore(controlConnection), actionKey, temporal },
        {},
      ),
      repositoriesDir,
      incomingDir,
      commandPolicy,
      actionKey,
      reuseWindowSecs: 600,
      temporal,
    });
    const worker = await Worker.create({
      connection: native,
      taskQueue: controlQueue(tenant),
      workflowBundle: await bundleWorkflows(),
      activities: {
        ...activities,
        prepareRun: (accepted: Parameters<typeof preparedRun>[0]) => Promise.resolve(preparedRun(accepted)),
      },
      interceptors: { activity: [activityFailures] },
    });
    const running = runWorkers([worker]);
    closing.push(() => running.close());
  }

  let replicas = 0;
  const replica = async (given: ReplicaSettings = {}): Promise<RunningReplica> => {
    const { temporalAddress = address, namespace = 'default', sweeps = true, limits = {}, ...a2a } = given;
    const own = [
      await connectStore(server.settings('gateway')),
      await connectStore(server.settings('reader')),
    ] as const;
    const frontend = Connection.lazy({ address: temporalAddress });
    const ctx = buildContext(
      {
        tenants: [tenant, 'other'],
        store: gatewayStore(own[0]),
        reader: storeReader(own[1]),
        temporal: new Client({ connection: frontend, namespace }),
        namespace,
        temporalAddress,
        keys,
        repositoriesDir,
        incomingDir,
        commandPolicy,
        routingPolicy,
        logger: createLogger({ part: 'gateway', level: 'error' }),
      },
      { callsPerSecond: 10_000, callsBurst: 10_000, ...limits },
    );
    const all: A2aSettings = { publicUrl: null, stream: STREAM_SETTINGS, feed: FEED_SETTINGS, ...a2a };
    const socketPath = join(directory, `gateway-${(replicas += 1)}.sock`);
    const listening = { host: '127.0.0.1', port: 0, socketPath };
    const served = await serveGateway(ctx, listening, {
      routers: [
        a2aRouter(ctx, all),
        operatorRouter(ctx),
        orchestrationRouter(ctx, own[1]),
        gatesRouter(ctx, { reader: gateReader(own[1]), keys: () => Promise.resolve([]) }),
        recordsRouter(ctx, own[1]),
      ],
    });
    const sweeping = sweeps ? startSweeping(ctx) : { close: () => {} };
    let open = true;
    const close = async () => {
      if (!open) return;
      open = false;
      sweeping.close();
      await served.close();
      await frontend.close();
      await Promise.all(own.map((one) => one.close()));
    };
    closing.push(close);
    return { url: `http://127.0.0.1:${served.port}`, socketPath, ctx, close };
  };
  const first = await replica();

  let credentials = 0;
  const credential: World['credential'] = async (change) => {
    const record: CredentialRecord = {
      schema: 'portcullis/credential/v1',
      id: `c${(credentials += 1)}`,
      tenant,
      pair: '',
      workspace: '',
      workspaceGeneration: 0,
      execution: '',
      expiresAt: (await control.now()) + 3_600_000,
      state: 'active',
      ...change,
    };
    const { state, ...active } = record;
    await control.writeCredential({ ...active, state: 'active' }, null);
    if (state === 'revoked') await control.revokeCredential(record.tenant, record.id);
    return makeBearer(keys.gatewayKey, record.tenant, record.id);
  };

  const pair: World['pair'] = async (name, script = () => Promise.resolve(executorReport())) => {
    await control.writeRoles(tenant, {
      schema: 'portcullis/pair-roles/v1',
      pair: name,
      roles: ['sentinel', 'verifier', 'forge'],
      routing: { default: 'verifier', permitted: ['verifier'] },
      workspaces: { verifier: { name: `${name}-verifier-1`, generation: 1 } },
      baseBranch: 'main',
    });
    await control.writeHead(tenant, { schema: 'portcullis/pair-head/v1', pair: name, baseSha: null, ...HEAD });
    const seat = { tenant, pair: name, role: 'verifier', workspaceGeneration: 1 } as const;
    const worker = await Worker.create({
      connection: native,
      taskQueue: executorQueue(seat),
      activities: { runCommand: (signed: SignedAction) => script(signed, store) },
      interceptors: { activity: [activityFailures] },
      maxHeartbeatThrottleInterval: '200ms',
    });
    const running = runWorkers([worker]);
    // The door would do this for an executor that polls through it.
    const hold = () => store.holdPresence(seat, 'idle', 'stand-in').catch(() => {});
    await hold();
    const lease = setInterval(() => void hold(), 1_000);
    closing.push(async () => {
      clearInterval(lease);
      await running.close();
    });
    return credential({ role: 'sentinel', use: 'agent', pair: name, execution: HEAD.execution });
  };

  return {
    tenant,
    server,
    store,
    control,
    temporal,
    incomingDir,
    url: first.url,
    replica,
    credential,
    pair,
    client: (bearer, url = first.url) => new GatewayClient({ url, bearer }),
    close: async () => {
      for (const step of closing.toReversed()) await step();
    },
  };
}

/** A request of this pair; another attempt is another request. */
export function ask(pair: string, change: Partial<VerifyAsk['verify']> = {}): VerifyAsk {
  return {
    task_type: 'verify',
    pair_id: pair,
    verify: {
      kind: 'command',
      cwd: 'repo',
      argv: ['node', '--test'],
      timeout_secs: 60,
      expect: { exit_code: 0 },
      ...change,
    },
  };
}
