/** Opens the local pair of a repository: its commit taken in, its credentials made, its next workspace named. */
import { randomBytes } from 'node:crypto';
import { bundleOf, type RepositoryHead } from '../../activities/git/bundle.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { PortcullisError } from '../../schemas/errors.ts';
import type { ExecutorRole } from '../../schemas/names.ts';
import type { OpenPairRequest, PairAnswer } from '../../schemas/operator-api.ts';
import type { ClaimOffer } from '../../schemas/verify/workflow.ts';
import { watchUpload, whileReporting, type Report } from './transfer.ts';

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
  report: Report = () => {},
): Promise<OpenedPair> {
  const before = await currentPair(operator, pair);
  const generation = (before?.roles.workspaces[role]?.generation ?? 0) + 1;
  const workspace = { name: `${role}-${randomBytes(10).toString('hex')}`, role, generation };
  const codes = { executor: claimCode(), reviewer: claimCode() };
  const request: OpenPairRequest = {
    pair,
    importId: before?.head.headSha === head.headSha ? null : await importHead(operator, head, report),
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
  };
  const start = performance.now();
  const words = () => `checking    each object, ${Math.round((performance.now() - start) / 1000)} s so far`;
  await whileReporting(report, words, () => operator.openPair(request));
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

/** Sends the history of HEAD as git packs it; nothing of it is kept here. @throws `repository_invalid`, `bundle_too_large`, `disk_full` */
export async function importHead(
  operator: GatewayClient,
  head: RepositoryHead,
  report: Report = () => {},
): Promise<string> {
  const bundle = bundleOf(head);
  try {
    return (await whileReporting(report, watchUpload(bundle), () => operator.importBundle(bundle))).importId;
  } finally {
    bundle.destroy();
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
