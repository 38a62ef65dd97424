/** Opens the local pair of a repository: its commit taken in, its credentials made, its next workspace named. */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeBundle, type RepositoryHead } from '../../activities/git/bundle.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { PortcullisError } from '../../schemas/errors.ts';
import type { ExecutorRole } from '../../schemas/names.ts';
import type { PairAnswer } from '../../schemas/operator-api.ts';
import type { ClaimOffer } from '../../schemas/verify/workflow.ts';

/** Longer than any command may take, with its preparation and its output. */
const CREDENTIAL_LIFETIME_SECS = 2 * 3600;

export interface OpenedPair {
  readonly pair: string;
  readonly workspace: { readonly name: string; readonly role: ExecutorRole; readonly generation: number };
  /** Single-use codes: one fetches the executor's bearer, one the reviewer's. They are in no record and no history. */
  readonly codes: { readonly executor: string; readonly reviewer: string };
}

/** A repository's own pair: the same path is the same pair, so the same request finds the earlier answer. */
export function localPairName({ path, headSha }: RepositoryHead): string {
  // A repository that was made anew with the other hash is another one: the control plane's copy cannot hold both.
  const identity = `${path}\0${headSha.length === 64 ? 'sha256' : 'sha1'}`;
  return `local-${digestHex(contentDigest(new TextEncoder().encode(identity))).slice(0, 12)}`;
}

/** @throws `repository_invalid`, `state_conflict` when another workspace was opened at the same moment */
export async function openLocalPair(
  operator: GatewayClient,
  head: RepositoryHead,
  pair: string,
  role: ExecutorRole,
): Promise<OpenedPair> {
  const before = await currentPair(operator, pair);
  const generation = (before?.roles.workspaces[role]?.generation ?? 0) + 1;
  const workspace = { name: `${role}-${randomBytes(10).toString('hex')}`, role, generation };
  const codes = { executor: claimCode(), reviewer: claimCode() };
  await operator.openPair({
    pair,
    importId: before?.head.headSha === head.headSha ? null : await importHead(operator, head),
    headSha: head.headSha,
    baseSha: head.baseSha,
    execution: `${pair}-1`,
    generation: 1,
    roles: [role, 'sentinel'],
    routing: { default: role, permitted: [role] },
    // Those of other roles stay, so that their next ones get higher generations; without routing nobody is sent there.
    workspaces: { ...before?.roles.workspaces, [role]: { name: workspace.name, generation } },
    baseBranch: 'main',
    claims: [
      offer(codes.executor, role, 'executor', workspace.name, generation),
      offer(codes.reviewer, 'sentinel', 'agent', '', 1),
    ],
  });
  return { pair, workspace, codes };
}

async function currentPair(operator: GatewayClient, pair: string): Promise<PairAnswer | null> {
  try {
    return await operator.pair(pair);
  } catch (thrown) {
    if (thrown instanceof PortcullisError && thrown.code === 'not_found') return null;
    throw thrown;
  }
}

export async function importHead(operator: GatewayClient, head: RepositoryHead): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-bundle-'));
  try {
    const file = join(directory, 'head.bundle');
    await writeBundle(head, file);
    return (await operator.importBundle(createReadStream(file))).importId;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function offer(
  code: string,
  role: ClaimOffer['role'],
  use: ClaimOffer['use'],
  workspace: string,
  workspaceGeneration: number,
): ClaimOffer {
  const codeDigestHex = digestHex(contentDigest(new TextEncoder().encode(code)));
  return { role, use, workspace, workspaceGeneration, codeDigestHex, lifetimeSecs: CREDENTIAL_LIFETIME_SECS };
}

/** 256 random bits. */
function claimCode(): string {
  return randomBytes(32).toString('base64url');
}
