/** Everything one executor test needs: a stand-in gateway, a published repository, an executor's context, signed actions. */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGatewayClient } from '../../../activities/executor/gateway-client.ts';
import { probeSandbox } from '../../../activities/executor/probe.ts';
import { runAction, type ExecutorContext } from '../../../activities/executor/run-action.ts';
import { writeSandboxEtc } from '../../../activities/executor/run-directory.ts';
import { createToolchainDigests } from '../../../activities/executor/toolchain-digest.ts';
import { searchToolchains } from '../../../activities/executor/toolchain-search.ts';
import { writeToolDirectory } from '../../../activities/executor/toolchains.ts';
import { loadCommandPolicy } from '../../../activities/policy/load.ts';
import { signAction } from '../../../activities/signing/action.ts';
import { generateSigningKey, parseVerifyingKey, type SigningKey } from '../../../activities/signing/keys.ts';
import { evaluateCommand } from '../../../policies/commands/evaluate.ts';
import type { CommandPolicy, LoadedCommandPolicy } from '../../../policies/commands/types.ts';
import { digestOf } from '../../../schemas/digest.ts';
import type { Action, SignedAction } from '../../../schemas/verify/action.ts';
import type { ExecutorReport } from '../../../schemas/verify/report.ts';
import { startFakeGateway, type FakeGateway } from './fake-gateway.ts';
import { publish, type FileSpec } from './repository.ts';

export const TENANT = 'local';
export const PAIR = 'T-1';
export const BEARER = 'pc1.local.cred.c2VjcmV0LW9mLXRoZS1leGVjdXRvcg';

export interface Bench {
  readonly directory: string;
  readonly gateway: FakeGateway;
  readonly key: SigningKey;
  readonly context: ExecutorContext;
  /** Publishes these files as the pair's repository; the commit. */
  publish(files: Readonly<Record<string, FileSpec>>): Promise<string>;
  action(
    commit: string,
    argv: readonly string[],
    change?: Partial<Action>,
    timeoutSecs?: number,
    artifacts?: readonly string[],
  ): SignedAction;
  run(commit: string, argv: readonly string[], options?: RunOptions): Promise<ExecutorReport>;
  close(): Promise<void>;
}

export interface RunOptions {
  readonly change?: Partial<Action>;
  readonly timeoutSecs?: number;
  readonly artifacts?: readonly string[];
  readonly cancellation?: AbortSignal;
  readonly context?: Partial<ExecutorContext>;
}

/** `limits` are written over those of the shipped policy, on both sides. */
export async function openBench(
  limits: Partial<CommandPolicy['limits']> = {},
  egress?: { readonly url: string; readonly key: string },
): Promise<Bench> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'portcullis-executor-')));
  const repositories = join(directory, 'repositories');
  const gateway = await startFakeGateway({
    socketPath: join(directory, 'gateway.sock'),
    repositories,
    ...(egress === undefined ? {} : { egress }),
  });
  const key = generateSigningKey();
  const policy = await policyWith(limits);
  const context = await makeContext(directory, gateway, key, policy);
  let published = 0;

  function action(
    commit: string,
    argv: readonly string[],
    change: Partial<Action> = {},
    timeoutSecs = 60,
    artifacts: readonly string[] = [],
  ): SignedAction {
    const ruling = evaluateCommand(policy.policy, { argv, cwd: 'repo', timeoutSecs, expectExitCode: 0, artifacts });
    if (!ruling.allowed) throw new Error(`${ruling.reason}: ${ruling.detail}`);
    const { template, argvExecuted, environment, limits: ruled, counts, prepare } = ruling;
    return signAction(
      {
        schema: 'portcullis/action/v1',
        tenant: TENANT,
        pair: PAIR,
        taskId: 'task-1',
        requestDigest: digestOf('request', { test: commit }),
        policy: { id: policy.policy.id, revision: policy.policy.revision, digest: policy.digest, template },
        cwd: 'repo',
        argvRequested: argv,
        argvExecuted,
        environment,
        limits: ruled,
        artifacts,
        counts,
        prepare,
        subject: { headSha: commit, execution: 'e-1', generation: 1 },
        executor: { role: 'verifier', workspace: 'ws-1', workspaceGeneration: 1 },
        notAfter: Date.now() + 60_000,
        ...change,
      },
      key,
    );
  }

  return {
    directory,
    gateway,
    key,
    context,
    action,
    publish: async (files) => {
      published += 1;
      const bare = join(repositories, TENANT, `${PAIR}.git`);
      await rm(bare, { recursive: true, force: true });
      return publish(join(directory, `source-${published}`), bare, files);
    },
    run: (commit, argv, { change, timeoutSecs, artifacts, cancellation, context: contextChange } = {}) =>
      runAction({ ...context, ...contextChange }, action(commit, argv, change, timeoutSecs, artifacts), {
        workflowId: 'verify/local/T-1/x/1',
        cancellation: cancellation ?? new AbortController().signal,
      }),
    close: async () => {
      context.client.close();
      await gateway.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function policyWith(limits: Partial<CommandPolicy['limits']>): Promise<LoadedCommandPolicy> {
  const { policy: shipped } = await loadCommandPolicy();
  const policy = { ...shipped, limits: { ...shipped.limits, ...limits } };
  return { policy, digest: digestOf('policy', policy) };
}

async function makeContext(
  directory: string,
  gateway: FakeGateway,
  key: SigningKey,
  policy: LoadedCommandPolicy,
): Promise<ExecutorContext> {
  const own = join(directory, 'private');
  await mkdir(own, { mode: 0o700 });
  const [probe, toolchains] = await Promise.all([probeSandbox(), searchToolchains()]);
  await writeSandboxEtc(join(own, 'etc'));
  await writeToolDirectory(toolchains, join(own, 'tools'));
  return {
    identity: {
      tenant: TENANT,
      pair: PAIR,
      role: 'verifier',
      workspaceGeneration: 1,
      workspace: 'ws-1',
      actionKey: parseVerifyingKey(key.publicPem),
    },
    policy,
    client: createGatewayClient(gateway.socketPath, BEARER),
    source: {
      git: { program: probe.git, home: own },
      directory: join(own, 'repositories'),
      url: `http://${gateway.address}/git/${TENANT}/${PAIR}.git`,
      bearer: BEARER,
    },
    probe,
    toolchains,
    toolchainDigest: createToolchainDigests(),
    bootId: 'boot-1',
    runs: join(own, 'runs'),
    etc: join(own, 'etc'),
    toolDirectory: join(own, 'tools'),
    reporter: fileURLToPath(new URL('../../../activities/executor/node-test-reporter.mjs', import.meta.url)),
    worktree: null,
    prepare: {
      directory: join(own, 'prepared'),
      maxBytes: 1024 * 1024 * 1024,
      gatewaySocket: gateway.socketPath,
      bearer: BEARER,
      environment: policy.policy.environment,
    },
    graceMs: 300,
    flushMs: 100,
    outputPatienceMs: 5_000,
  };
}
