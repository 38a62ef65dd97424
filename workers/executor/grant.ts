/** The executor's credential: got once for a claim code, kept in a file that only the executor can read. */
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createGatewayClient } from '../../activities/executor/gateway-client.ts';
import { parseVerifyingKey } from '../../activities/signing/keys.ts';
import type { ExecutorIdentity } from '../../activities/executor/admit.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { EXECUTOR_ROLES, ROLES } from '../../schemas/names.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { WORKSPACE_PATHS, type ClaimExchange, type ClaimGrant } from '../../schemas/workspace-api.ts';
import type { ExecutorSettings } from './settings.ts';

const grantDocument = z.object({
  schema: z.literal('portcullis/claim-grant/v1'),
  bearer: z.string().min(1).max(1024),
  tenant: z.string(),
  pair: z.string(),
  role: z.enum(ROLES),
  workspace: z.string(),
  workspaceGeneration: z.int(),
  expiresAt: z.int(),
  executor: z.object({
    role: z.enum(EXECUTOR_ROLES),
    namespace: z.string(),
    taskQueue: z.string(),
    actionKey: z.object({ keyId: z.string(), pem: z.string() }),
  }),
}) satisfies z.ZodType<ClaimGrant>;

export type ExecutorGrant = z.infer<typeof grantDocument>;

/** How long a gateway that is not there yet is waited for. */
const PATIENCE_MS = 60_000;

/** @throws `claim_code_invalid` or `not_allowed` when there is no credential to be had, `gateway_unavailable` */
export async function obtainGrant(settings: ExecutorSettings): Promise<ExecutorGrant> {
  const file = join(settings.privateDirectory, 'grant.json');
  const kept = await readKept(file);
  if (kept !== null) return kept;
  const grant = await exchange(settings);
  await keep(file, grant);
  if (settings.claimCodeFile !== null) await rm(settings.claimCodeFile, { force: true });
  return grant;
}

/** Who the executor is, as its grant says it. @throws `setting_invalid` when the key in it is none. */
export function identityOf(grant: ExecutorGrant): ExecutorIdentity {
  const { tenant, pair, workspace, workspaceGeneration, executor } = grant;
  return {
    tenant,
    pair,
    workspace,
    workspaceGeneration,
    role: executor.role,
    actionKey: parseVerifyingKey(executor.actionKey.pem),
  };
}

async function exchange({ tenant, gatewaySocket, claimCodeFile }: ExecutorSettings): Promise<ExecutorGrant> {
  if (claimCodeFile === null) throw portcullisError('claim_code_invalid');
  const code = (await readPrivate(claimCodeFile)).toString('utf8').trim();
  const client = createGatewayClient(gatewaySocket, null);
  const body: ClaimExchange = { tenant, code };
  try {
    const answer = await client.call({
      method: 'POST',
      path: WORKSPACE_PATHS.exchange,
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify(body)),
      patienceMs: PATIENCE_MS,
    });
    return parseGrant(answer);
  } finally {
    client.close();
  }
}

function parseGrant(bytes: Uint8Array): ExecutorGrant {
  const parsed = grantDocument.safeParse(readStrictJson(bytes));
  if (!parsed.success)
    throw portcullisError('not_allowed', { action: 'serve as an executor: the grant is for another use' });
  return parsed.data;
}

async function readKept(file: string): Promise<ExecutorGrant | null> {
  try {
    await stat(file);
  } catch {
    return null;
  }
  return parseGrant(await readPrivate(file));
}

/** Whole or not at all: the code that fetched it is spent. */
async function keep(file: string, grant: ExecutorGrant): Promise<void> {
  const fresh = `${file}.new`;
  await rm(fresh, { force: true });
  const handle = await open(fresh, 'wx', 0o600);
  try {
    await handle.writeFile(JSON.stringify(grant));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
}

/** A secret that others can read is no longer one. @throws `setting_invalid` */
async function readPrivate(file: string): Promise<Buffer> {
  try {
    if (((await stat(file)).mode & 0o077) === 0) return await readFile(file);
  } catch (error) {
    throw portcullisError('setting_invalid', { name: file, reason: 'cannot be read' }, error);
  }
  throw portcullisError('setting_invalid', { name: file, reason: 'is readable by others; make it mode 0600' });
}
