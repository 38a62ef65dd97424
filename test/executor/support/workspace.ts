/** A launched workspace and what it talks to: the stand-in gateway, which hands out a grant for the claim code. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { launchWorkspace, type LaunchSettings, type RunningWorkspace } from '../../../local/workspace/launch.ts';
import { executorQueue } from '../../../schemas/queues.ts';
import type { ClaimGrant } from '../../../schemas/workspace-api.ts';
import { BEARER, PAIR, TENANT, type Bench } from './bench.ts';
import { startFakeGateway, type Answer, type FakeGateway } from './fake-gateway.ts';

export const QUEUE = executorQueue({ tenant: TENANT, pair: PAIR, role: 'verifier', workspaceGeneration: 1 });
export const CLAIM_CODE = 'claim-code-that-is-good-once';

export interface TestWorkspace {
  readonly gateway: FakeGateway;
  readonly workspace: RunningWorkspace;
  /** The workspace's directory and log on this machine. */
  readonly directory: string;
  readonly logFile: string;
  readonly boots: string[];
  /** While set, the workspace's calls are refused as those of a revoked credential. */
  revoked: boolean;
  close(): Promise<void>;
}

export async function openWorkspace(
  bench: Bench,
  name: string,
  change: Partial<LaunchSettings> & { readonly temporalAddress?: string } = {},
): Promise<TestWorkspace> {
  const { temporalAddress, ...launchChange } = change;
  const base = join(bench.directory, name);
  await mkdir(join(base, 'gateway'), { recursive: true });
  const boots: string[] = [];
  let claims = 0;
  const answer = (path: string, body: Buffer): Answer | null => {
    if (test.revoked) return { status: 401, json: { code: 'unauthenticated' } };
    if (path === '/v1/executor/register') boots.push(fieldOf(body, 'bootId'));
    if (path !== '/v1/claims/exchange') return null;
    claims += 1;
    const good = claims === 1 && fieldOf(body, 'code') === CLAIM_CODE;
    return good ? { status: 200, json: grant(bench) } : { status: 401, json: { code: 'claim_code_invalid' } };
  };
  const gateway = await startFakeGateway({
    socketPath: join(base, 'gateway', 'gateway.sock'),
    repositories: join(bench.directory, 'repositories'),
    onCall: answer,
    ...(temporalAddress === undefined ? {} : { temporalAddress }),
  });
  const claimCodeFile = join(base, 'claim-code');
  await writeFile(claimCodeFile, CLAIM_CODE, { mode: 0o600 });
  const directory = join(base, 'workspace');
  const logFile = join(base, 'executor.log');
  const workspace = await launchWorkspace({
    name,
    tenant: TENANT,
    directory,
    gatewaySocket: gateway.socketPath,
    claimCodeFile,
    toolchains: bench.context.toolchains,
    logFile,
    worktree: null,
    ...launchChange,
  });
  const test: TestWorkspace = {
    gateway,
    workspace,
    directory,
    logFile,
    boots,
    revoked: false,
    close: async () => {
      await workspace.stop();
      await gateway.close();
    },
  };
  return test;
}

function grant(bench: Bench): ClaimGrant {
  return {
    schema: 'portcullis/claim-grant/v1',
    bearer: BEARER,
    tenant: TENANT,
    pair: PAIR,
    role: 'verifier',
    workspace: 'ws-1',
    workspaceGeneration: 1,
    expiresAt: Date.now() + 3_600_000,
    executor: {
      role: 'verifier',
      namespace: 'default',
      taskQueue: QUEUE,
      actionKey: { keyId: bench.key.keyId, pem: bench.key.publicPem },
    },
  };
}

function fieldOf(body: Buffer, name: string): string {
  const value: unknown = JSON.parse(body.toString());
  return typeof value === 'object' && value !== null ? String(new Map(Object.entries(value)).get(name)) : '';
}
