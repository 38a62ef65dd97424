/**
 * A stage for the door: a real store, the run's real Temporal, real gateways, and credentials as control writes them.
 * One for each test file; pairs are a test's own.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { shippedCommandPolicies } from '../../activities/policy/load.ts';
import { generateSigningKey } from '../../activities/signing/keys.ts';
import { connectStore } from '../../activities/store/connect.ts';
import { controlStore } from '../../activities/store/control.ts';
import { gatewayStore } from '../../activities/store/gateway.ts';
import type { ControlStore, GatewayStore } from '../../activities/store/port.ts';
import { makeBearer } from '../../gateway/authority/bearer.ts';
import type { RunningGateway } from '../../gateway/gateway.ts';
import { startGateway, type GatewaySettings } from '../../gateway/main.ts';
import type { CredentialRecord } from '../../schemas/credential.ts';
import { executorQueue, type Seat } from '../../schemas/queues.ts';
import { runWorkers } from '../../workers/run-workers.ts';
import { startStoreServer, type StoreServer } from '../support/store-server.ts';
import type { dispatch } from './workflows.ts';

export interface DoorStage {
  readonly settings: GatewaySettings;
  readonly gatewayKey: Uint8Array;
  readonly storeServer: StoreServer;
  readonly store: GatewayStore;
  readonly control: ControlStore;
  readonly temporal: Client;
  readonly directory: string;
  gateway(change?: Partial<GatewaySettings>): Promise<RunningGateway>;
  /** Writes a credential; by default an executor's of tenant `local`, for an hour. */
  credential(change: Partial<CredentialRecord>): Promise<Credential>;
  /** Starts `dispatch` on a workflow worker of the stage's own. */
  dispatch(seat: Seat, play: string, heartbeatSecs?: number): Promise<WorkflowHandle<typeof dispatch>>;
  readonly workflowQueue: string;
  close(): Promise<void>;
}

export interface Credential {
  readonly record: CredentialRecord;
  readonly bearer: string;
}

export const HOUR_MS = 3_600_000;

export function seatOfPair(pair: string, change: Partial<Seat> = {}): Seat {
  return { tenant: 'local', pair, role: 'verifier', workspaceGeneration: 1, ...change };
}

export async function openStage(temporalAddress: string): Promise<DoorStage> {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-door-'));
  const storeServer = await startStoreServer();
  const connections = [
    await connectStore(storeServer.settings('gateway')),
    await connectStore(storeServer.settings('control')),
  ] as const;
  const control = controlStore(connections[1]);
  const connection = await Connection.connect({ address: temporalAddress });
  const temporal = new Client({ connection, namespace: 'default' });
  const native = await NativeConnection.connect({ address: temporalAddress });
  const workflowQueue = `door-test-${randomUUID()}`;
  const workflows = runWorkers([
    await Worker.create({
      connection: native,
      taskQueue: workflowQueue,
      workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
    }),
  ]);
  const gatewayKey = randomBytes(32);
  await writeFile(join(directory, 'gateway-key'), gatewayKey.toString('base64url'), { mode: 0o600 });
  await writeFile(join(directory, 'action.pub.pem'), generateSigningKey().publicPem);
  const settings: GatewaySettings = {
    host: '127.0.0.1',
    port: 0,
    socketPath: join(directory, 'gateway.sock'),
    tenants: ['local', 'acme'],
    temporalAddress,
    namespace: 'default',
    store: {
      url: storeServer.url,
      gatewayPassword: storeServer.passwords.gateway,
      readerPassword: storeServer.passwords.reader,
    },
    gatewayKeyFile: join(directory, 'gateway-key'),
    actionPublicKeyFile: join(directory, 'action.pub.pem'),
    repositoriesDir: join(directory, 'repositories'),
    incomingDir: join(directory, 'incoming'),
    commandPolicyDir: shippedCommandPolicies(),
    logger: pino({ level: process.env['DOOR_TEST_LOG'] ?? 'silent' }),
  };
  const gateways: RunningGateway[] = [];
  return {
    settings,
    gatewayKey,
    storeServer,
    store: gatewayStore(connections[0]),
    control,
    temporal,
    directory,
    workflowQueue,
    async gateway(change = {}) {
      const socketPath = join(directory, `gateway-${gateways.length}.sock`);
      const gateway = await startGateway({ ...settings, socketPath, ...change });
      gateways.push(gateway);
      return gateway;
    },
    async credential(change) {
      const record: CredentialRecord = {
        schema: 'portcullis/credential/v1',
        id: randomUUID(),
        tenant: 'local',
        pair: 'T-1',
        role: 'verifier',
        use: 'executor',
        workspace: 'ws-1',
        workspaceGeneration: 1,
        execution: 'e1',
        expiresAt: Date.now() + HOUR_MS,
        state: 'active',
        ...change,
      };
      await control.writeCredential(record, null);
      return { record, bearer: makeBearer(gatewayKey, record.tenant, record.id) };
    },
    dispatch: (seat, play, heartbeatSecs = 120) =>
      temporal.workflow.start<typeof dispatch>('dispatch', {
        taskQueue: workflowQueue,
        workflowId: `door-test/${randomUUID()}`,
        args: [{ queue: executorQueue(seat), play, heartbeatSecs }],
      }),
    async close() {
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await workflows.close();
      await native.close();
      await connection.close();
      await Promise.all(connections.map((store) => store.close()));
      await storeServer.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
