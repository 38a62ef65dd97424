/**
 * The executor: an activity-only Temporal worker that polls its own queue, and only that, through the door.
 *
 * @example const executor = await startExecutor(settings); await executor.ended
 */
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createExecutorActivities } from '../../activities/executor/activity.ts';
import { describeContainment } from '../../activities/executor/containment.ts';
import { createGatewayClient, type GatewayClient } from '../../activities/executor/gateway-client.ts';
import { probeSandbox } from '../../activities/executor/probe.ts';
import type { ExecutorContext } from '../../activities/executor/run-action.ts';
import { removeUnfinished } from '../../activities/executor/prepare/cache.ts';
import { removeLeftRuns, writeSandboxEtc } from '../../activities/executor/run-directory.ts';
import { createToolchainDigests } from '../../activities/executor/toolchain-digest.ts';
import { searchToolchains } from '../../activities/executor/toolchain-search.ts';
import { writeToolDirectory } from '../../activities/executor/toolchains.ts';
import { loadCommandPolicy } from '../../activities/policy/load.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { WORKSPACE_PATHS, type ExecutorRegistration } from '../../schemas/workspace-api.ts';
import { startForwarder } from './forwarder.ts';
import { identityOf, obtainGrant, type ExecutorGrant } from './grant.ts';
import type { ExecutorSettings } from './settings.ts';

export interface RunningExecutor {
  readonly bootId: string;
  /** What contains its runs, and the limits that hold here, as a sentence. */
  readonly containment: string;
  /**
   * Resolves after {@link RunningExecutor.close}. @throws `executor_lost` when the door disowned a run: start again, and the
   * registration says whether the credential still holds; `not_allowed` when it does not
   */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Three parts of a minute: a gateway that restarts takes seconds. */
const CONNECT_PATIENCE_MS = 60_000;
/** What preparations made, all of them together. */
const PREPARED_BYTES = 4 * 1024 * 1024 * 1024;
const GRACE_MS = 400;
const FLUSH_MS = 100;
const OUTPUT_PATIENCE_MS = 180_000;

/** @throws `claim_code_invalid`, `not_allowed`, `gateway_unavailable`, `sandbox_unavailable`, `setting_invalid` */
export async function startExecutor(settings: ExecutorSettings): Promise<RunningExecutor> {
  refuseRoot();
  const bootId = randomUUID();
  await mkdir(settings.privateDirectory, { recursive: true, mode: 0o700 });
  const grant = await obtainGrant(settings);
  const client = createGatewayClient(settings.gatewaySocket, grant.bearer);
  const forwarder = await startForwarder(settings.gatewaySocket);
  const context = await makeContext(settings, grant, client, forwarder.address, bootId);
  const closeAll = async (): Promise<void> => {
    client.close();
    await forwarder.close();
  };
  try {
    await register(client, bootId);
    const { worker, ended } = await startWorker(context, grant, forwarder.address, closeAll);
    return {
      bootId,
      containment: describeContainment(context.probe),
      ended,
      close: async () => {
        if (worker.getState() === 'RUNNING') worker.shutdown();
        await ended.catch(() => {});
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** A limit on processes does not hold for root, and a mistake in a sandbox would be root's. */
function refuseRoot(): void {
  if (process.getuid?.() !== 0) return;
  throw portcullisError('sandbox_unavailable', { reason: 'the executor runs as root; start it as an ordinary user' });
}

async function makeContext(
  settings: ExecutorSettings,
  grant: ExecutorGrant,
  client: GatewayClient,
  gateway: string,
  bootId: string,
): Promise<ExecutorContext> {
  const inside = (name: string) => join(settings.privateDirectory, name);
  const [probe, policy, toolchains] = await Promise.all([
    probeSandbox(),
    loadCommandPolicy(settings.policyDirectory ?? undefined),
    settings.toolchains ?? searchToolchains(),
    removeLeftRuns(inside('runs')),
    removeUnfinished(inside('prepared')),
    writeSandboxEtc(inside('etc')),
  ]);
  await writeToolDirectory(toolchains, inside('tools'));
  return {
    identity: identityOf(grant),
    policy,
    client,
    source: {
      git: { program: probe.git, home: settings.privateDirectory },
      directory: inside('repositories'),
      url: `http://${gateway}${WORKSPACE_PATHS.repository(grant.tenant, grant.pair)}`,
      bearer: grant.bearer,
    },
    probe,
    toolchains,
    toolchainDigest: createToolchainDigests(),
    bootId,
    runs: inside('runs'),
    etc: inside('etc'),
    toolDirectory: inside('tools'),
    reporter: fileURLToPath(import.meta.resolve('../../activities/executor/node-test-reporter.mjs')),
    worktree: settings.worktree,
    prepare: {
      directory: inside('prepared'),
      maxBytes: PREPARED_BYTES,
      gatewaySocket: settings.gatewaySocket,
      bearer: grant.bearer,
      environment: policy.policy.environment,
    },
    graceMs: GRACE_MS,
    flushMs: FLUSH_MS,
    outputPatienceMs: OUTPUT_PATIENCE_MS,
  };
}

async function register(client: GatewayClient, bootId: string): Promise<void> {
  const body: ExecutorRegistration = { bootId };
  await client.call({
    method: 'POST',
    path: WORKSPACE_PATHS.register,
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(body)),
    patienceMs: CONNECT_PATIENCE_MS,
  });
}

async function startWorker(
  context: ExecutorContext,
  grant: ExecutorGrant,
  address: string,
  closeAll: () => Promise<void>,
): Promise<{ readonly worker: Worker; readonly ended: Promise<void> }> {
  // The SDK would tell of every call that the door refuses; what matters of it is said by the exit code.
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    workerHeartbeatInterval: 0,
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
  const connection = await connect(address, grant.bearer);
  let disowned = false;
  const worker = await Worker.create({
    connection,
    namespace: grant.executor.namespace,
    taskQueue: grant.executor.taskQueue,
    identity: `${grant.executor.role}/${grant.workspace}/${context.bootId}`,
    activities: createExecutorActivities({
      context,
      onDisowned: () => {
        disowned = true;
        if (worker.getState() === 'RUNNING') worker.shutdown();
      },
    }),
    // One run at a time: what a second one did would be in the first one's timing.
    maxConcurrentActivityTaskExecutions: 1,
    // A cancel reaches the command about this late; the default throttle makes it 48 s.
    maxHeartbeatThrottleInterval: '300ms',
    defaultHeartbeatThrottleInterval: '300ms',
    shutdownGraceTime: '2s',
    shutdownForceTime: '15s',
  });
  const run = worker.run();
  const ended = run
    .then(
      () => {
        if (disowned) throw portcullisError('executor_lost');
      },
      (error: unknown) => {
        throw isRefusal(error) ? portcullisError('not_allowed', { action: 'serve as an executor' }, error) : error;
      },
    )
    .finally(async () => {
      await connection.close().catch(() => {});
      await closeAll();
    });
  // Whoever holds the executor looks at this when it wants to; until then a rejection is not unhandled.
  ended.catch(() => {});
  return { worker, ended };
}

async function connect(address: string, bearer: string): Promise<NativeConnection> {
  const deadline = performance.now() + CONNECT_PATIENCE_MS;
  for (;;) {
    try {
      return await NativeConnection.connect({ address, metadata: { authorization: `Bearer ${bearer}` } });
    } catch (error) {
      if (isRefusal(error)) throw portcullisError('not_allowed', { action: 'serve as an executor' }, error);
      if (performance.now() > deadline) throw portcullisError('gateway_unavailable', { url: address }, error);
      await delay(500);
    }
  }
}

/** What the door answers to a credential that is unknown, revoked or of another use; the SDK passes it on as text only. */
function isRefusal(error: unknown): boolean {
  return /NotFound|Unauthenticated|PermissionDenied|not_found|unauthenticated/i.test(String(error));
}
