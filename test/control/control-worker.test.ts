import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, WorkflowFailedError } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readRepositoryHead, writeBundle, type RepositoryHead } from '../../activities/git/bundle.ts';
import { pairRepository } from '../../activities/git/repository.ts';
import { incomingBundle } from '../../activities/pair/open.ts';
import { shippedCommandPolicies } from '../../activities/policy/load.ts';
import { connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { gatewayStore } from '../../activities/store/gateway.ts';
import { parseVerifyingKey, verifyText, loadSigningKey } from '../../activities/signing/keys.ts';
import { controlStore } from '../../activities/store/control.ts';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { controlQueue } from '../../schemas/queues.ts';
import type { OpenPairInput, OpenPairResult, SetKillSwitchInput } from '../../schemas/verify/workflow.ts';
import { startControlWorker, type RunningControlWorker } from '../../workers/control/main.ts';
import { startGateWorker, type RunningGateWorker } from '../../workers/gate/main.ts';
import { startStoreServer, type StoreServer } from '../support/store-server.ts';

const tenant = 'local';
let root: string;
let store: StoreServer;
let reading: StoreConnection;
let controlling: StoreConnection;
let temporal: Client;
let connection: Connection;
let control: RunningControlWorker;
let gate: RunningGateWorker;
let head: RepositoryHead;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'portcullis-control-'));
  store = await startStoreServer();
  const address = inject('temporalAddress');
  connection = await Connection.connect({ address });
  temporal = new Client({ connection });
  reading = await connectStore(store.settings('gateway'));
  controlling = await connectStore(store.settings('control'));
  const shared = { tenants: [tenant], temporalAddress: address, namespace: 'default' };
  [control, gate] = await Promise.all([
    startControlWorker({
      ...shared,
      store: { url: store.url, password: store.passwords.control },
      actionKeyFile: join(root, 'action.pem'),
      repositoriesDir: join(root, 'repositories'),
      incomingDir: join(root, 'incoming'),
      commandPolicyDir: shippedCommandPolicies(),
      reuseWindowSecs: 600,
    }),
    startGateWorker({
      ...shared,
      store: { url: store.url, password: store.passwords.gate },
      gateKeyFile: join(root, 'gate.pem'),
    }),
  ]);
  head = await bundleOfRepository();
});

afterAll(async () => {
  await Promise.all([control.close(), gate.close()]);
  await Promise.all([connection.close(), reading.close(), controlling.close()]);
  await store.close();
  rmSync(root, { recursive: true, force: true });
});

async function bundleOfRepository() {
  const path = join(root, 'repo');
  mkdirSync(path);
  const env = { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: path, env });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(path, 'package.json'), '{}');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first');
  const found = await readRepositoryHead(path);
  mkdirSync(join(root, 'incoming', tenant), { recursive: true });
  return found;
}

function codeDigest(code: string): string {
  return digestHex(contentDigest(new TextEncoder().encode(code)));
}

async function openPair(
  pair: string,
  generation: number,
  change: Partial<OpenPairInput> = {},
): Promise<OpenPairResult> {
  const importId = `i-${pair}-${generation}`;
  await writeBundle(head, incomingBundle(join(root, 'incoming'), tenant, importId));
  const input: OpenPairInput = {
    tenant,
    pair,
    importId,
    headSha: head.headSha,
    baseSha: head.baseSha,
    execution: 'e1',
    generation: 1,
    roles: ['verifier', 'sentinel'],
    routing: { default: 'verifier', permitted: ['verifier'] },
    workspaces: { verifier: { name: `verifier-${generation}`, generation } },
    baseBranch: 'main',
    claims: [
      {
        role: 'verifier',
        use: 'executor',
        workspace: `verifier-${generation}`,
        workspaceGeneration: generation,
        codeDigestHex: codeDigest(`${pair}-${generation}`),
        lifetimeSecs: 60,
      },
    ],
    by: 'c-operator',
    ...change,
  };
  return await temporal.workflow.execute<(input: OpenPairInput) => Promise<OpenPairResult>>('openPair', {
    taskQueue: controlQueue(tenant),
    workflowId: `open-pair/${tenant}/${pair}/${generation}/${crypto.randomUUID()}`,
    args: [input],
  });
}

/** Code of the catalogue with which a workflow's activity failed. */
async function failureOf(run: Promise<unknown>): Promise<string> {
  const thrown: unknown = await run.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof WorkflowFailedError)) throw new Error(`the workflow did not fail: ${String(thrown)}`);
  return String(Reflect.get(Object(thrown.cause?.cause), 'type'));
}

test('opening a pair takes the commit in and gives its workspace a credential for a single-use code', async () => {
  const opened = await openPair('opens', 1);
  const gateway = gatewayStore(reading);
  expect(await pairRepository(join(root, 'repositories'), tenant, 'opens').hasCommit(head.headSha)).toBe(true);
  expect(await gateway.readHead(tenant, 'opens')).toMatchObject({
    headSha: head.headSha,
    execution: 'e1',
    generation: 1,
  });
  const credential = await gateway.consumeClaimCode(tenant, codeDigest('opens-1'));
  expect(credential).toMatchObject({
    id: opened.credentials[0]?.credentialId,
    pair: 'opens',
    use: 'executor',
    state: 'active',
  });
  await expect(gateway.consumeClaimCode(tenant, codeDigest('opens-1'))).rejects.toMatchObject({
    code: 'claim_code_invalid',
  });
});

test('[inv-04] a workspace that is not newer than the one that serves the role is refused', async () => {
  await openPair('older', 2);
  const roles = await gatewayStore(reading).readRoles(tenant, 'older');
  expect(await failureOf(openPair('older', 1))).toBe('state_conflict');
  expect(await gatewayStore(reading).readRoles(tenant, 'older')).toEqual(roles);
});

test('[inv-17] a head that the bundle does not hold is refused and nothing is written', async () => {
  const code = await failureOf(openPair('missing', 1, { headSha: 'f'.repeat(40) }));
  expect(code).toBe('repository_invalid');
  expect(existsSync(incomingBundle(join(root, 'incoming'), tenant, 'i-missing-1'))).toBe(false);
  expect(await gatewayStore(reading).readHead(tenant, 'missing')).toBeNull();
});

test.each(['../../etc', 'a/b', '.hidden', ''])('[inv-19] an import called %j reaches no file', async (importId) => {
  const pair = `named-${importId.length}`;
  expect(await failureOf(openPair(pair, 1, { importId }))).toBe('schema_invalid');
});

test('[inv-15] closing a pair revokes every credential it ever got', async () => {
  const first = await openPair('closes', 1);
  const second = await openPair('closes', 2);
  await temporal.workflow.execute('closePair', {
    taskQueue: controlQueue(tenant),
    workflowId: `close-pair/${tenant}/closes`,
    args: [{ tenant, pair: 'closes', by: 'c-operator' }],
  });
  for (const { credentialId } of [...first.credentials, ...second.credentials]) {
    expect(await gatewayStore(reading).readCredential(tenant, credentialId)).toMatchObject({ state: 'revoked' });
  }
});

test('the kill switch is written with its reason, and taken back', async () => {
  const turn = async (on: boolean) => {
    const input: SetKillSwitchInput = {
      tenant,
      scope: 'tenant',
      on,
      reason: 'drill',
      by: 'c-operator',
      cancelRunning: false,
    };
    await temporal.workflow.execute('setKillSwitch', {
      taskQueue: controlQueue(tenant),
      workflowId: `kill-switch/${tenant}/${String(on)}`,
      args: [input],
    });
  };
  await turn(true);
  expect(await gatewayStore(reading).readKillSwitch(tenant)).toMatchObject({
    on: true,
    reason: 'drill',
    by: 'c-operator',
  });
  await turn(false);
  expect(await gatewayStore(reading).readKillSwitch(tenant)).toBeNull();
});

test('[inv-01] every step is in the audit chain, signed by the control worker', async () => {
  await openPair('audited', 1);
  const chain = controlStore(controlling);
  const { n } = await chain.readAuditHead(tenant);
  const newest = await chain.readAuditEntry(tenant, n);
  if (newest === null) throw new Error('the head names an entry that is not there');
  const key = parseVerifyingKey((await loadSigningKey(join(root, 'action.pem'))).publicPem);
  expect(newest.entry).toMatchObject({ event: 'pair_opened', writer: 'control', refs: { pair: 'audited' } });
  expect(verifyText(key, newest.digest, newest.signature)).toBe(true);
});

test('both workers say that they are ready', () => {
  expect(control.isReady()).toBe(true);
  expect(gate.isReady()).toBe(true);
});
