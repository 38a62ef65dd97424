/** The credential of a process in a workspace: got once for a claim code, kept in a file that only its user can read. */
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createGatewayClient } from '../activities/executor/gateway-client.ts';
import { portcullisError } from '../schemas/errors.ts';
import { EXECUTOR_ROLES, ROLES } from '../schemas/names.ts';
import { readStrictJson } from '../schemas/strict-json.ts';
import { WORKSPACE_PATHS, type ClaimExchange, type ClaimGrant } from '../schemas/workspace-api.ts';

/** What an exchange answers, for every use. */
export const claimGrantSchema = z.object({
  schema: z.literal('portcullis/claim-grant/v1'),
  bearer: z.string().min(1).max(1024),
  tenant: z.string(),
  pair: z.string(),
  role: z.enum(ROLES),
  workspace: z.string(),
  workspaceGeneration: z.int(),
  expiresAt: z.int(),
  executor: z
    .object({
      role: z.enum(EXECUTOR_ROLES),
      namespace: z.string(),
      taskQueue: z.string(),
      actionKey: z.object({ keyId: z.string(), pem: z.string() }),
    })
    .nullable(),
}) satisfies z.ZodType<ClaimGrant>;

export interface ClaimSettings {
  readonly tenant: string;
  /** The gateway's unix socket. */
  readonly gatewaySocket: string;
  /** Directory of that process alone, mode 0700; the grant is kept in it. */
  readonly privateDirectory: string;
  /** Holds the code; removed once it is exchanged. `null` when the grant is there already. */
  readonly claimCodeFile: string | null;
}

/** How long a gateway that is not there yet is waited for. */
const PATIENCE_MS = 60_000;

/**
 * The grant, from its file or for the code. `schema` says which use it has to be for.
 * @throws `claim_code_invalid` or `not_allowed` when there is no credential to be had, `gateway_unavailable`
 */
export async function obtainClaimGrant<T>(settings: ClaimSettings, schema: z.ZodType<T>, use: string): Promise<T> {
  const file = join(settings.privateDirectory, 'grant.json');
  if (await exists(file)) return parseGrant(await readPrivate(file), schema, use);
  const answer = await exchange(settings);
  const grant = parseGrant(answer, schema, use);
  await keep(file, answer);
  if (settings.claimCodeFile !== null) await rm(settings.claimCodeFile, { force: true });
  return grant;
}

async function exchange({ tenant, gatewaySocket, claimCodeFile }: ClaimSettings): Promise<Uint8Array> {
  if (claimCodeFile === null) throw portcullisError('claim_code_invalid');
  const code = (await readPrivate(claimCodeFile)).toString('utf8').trim();
  const client = createGatewayClient(gatewaySocket, null);
  const body: ClaimExchange = { tenant, code };
  try {
    return await client.call({
      method: 'POST',
      path: WORKSPACE_PATHS.exchange,
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify(body)),
      patienceMs: PATIENCE_MS,
    });
  } finally {
    client.close();
  }
}

function parseGrant<T>(bytes: Uint8Array, schema: z.ZodType<T>, use: string): T {
  const parsed = schema.safeParse(readStrictJson(bytes));
  if (!parsed.success) throw portcullisError('not_allowed', { action: `${use}: the grant is for another use` });
  return parsed.data;
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch {
    return false;
  }
}

/** Whole or not at all: the code that fetched it is spent. */
async function keep(file: string, grant: Uint8Array): Promise<void> {
  const fresh = `${file}.new`;
  await rm(fresh, { force: true });
  const handle = await open(fresh, 'wx', 0o600);
  try {
    await handle.writeFile(grant);
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
