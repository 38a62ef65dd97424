/** Opens a pair: takes in its repository, then writes head, roles, credentials and claim codes. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClaimCodeRecord } from '../../schemas/credential.ts';
import { asPortcullisError, portcullisError, type ErrorCode } from '../../schemas/errors.ts';
import { checkedName, EXECUTOR_ROLES } from '../../schemas/names.ts';
import type { PairHead, PairRoles } from '../../schemas/pair.ts';
import type { ImportRequest, PairRecords } from '../../schemas/pair-activities.ts';
import type { OpenPairInput, OpenPairResult } from '../../schemas/verify/workflow.ts';
import { auditWriter } from '../audit/write.ts';
import { pairRepository } from '../git/repository.ts';
import type { PairDependencies } from './dependencies.ts';

/** How long a claim code may wait to be exchanged. */
const CLAIM_CODE_LIFETIME_MS = 10 * 60_000;

/** What no retry mends: the operator has to do something, and sends the bundle again. */
const FINAL: readonly ErrorCode[] = ['repository_invalid', 'disk_full'];

/** @throws `repository_invalid`, `not_found`, `disk_full` */
export async function importRepository(needs: PairDependencies, request: ImportRequest): Promise<void> {
  const { tenant, pair, importId, headSha, baseSha } = request;
  const repository = pairRepository(needs.repositoriesDir, tenant, pair);
  const bundle = importId === null ? null : incomingBundle(needs.incomingDir, tenant, importId);
  if (bundle !== null && !(await isThere(repository, headSha))) {
    try {
      await repository.importBundle(bundle, headSha);
    } catch (thrown) {
      // Refused for good: nobody comes for this file again.
      if (FINAL.includes(asPortcullisError(thrown).code)) await rm(bundle, { force: true });
      throw thrown;
    }
  }
  for (const commit of [headSha, ...(baseSha === null ? [] : [baseSha])]) {
    if (!(await isThere(repository, commit))) throw portcullisError('not_found', { what: 'commit', id: commit });
  }
  // Only once it is in: a retry of this activity needs the file again.
  if (bundle !== null) await rm(bundle, { force: true });
}

/** Where the gateway leaves an uploaded bundle for the control worker. */
export function incomingBundle(incomingDir: string, tenant: string, importId: string): string {
  return join(incomingDir, checkedName('tenant', tenant), `${checkedName('importId', importId)}.bundle`);
}

/** @throws `state_conflict` when a workspace is not newer than the one that serves its role now. */
export async function recordPair(
  needs: PairDependencies,
  { input, credentials }: PairRecords,
): Promise<OpenPairResult> {
  const { tenant, pair } = input;
  refuseOlderWorkspaces(input, await needs.store.readRoles(tenant, pair));
  const roles: PairRoles = {
    schema: 'portcullis/pair-roles/v1',
    pair,
    roles: input.roles,
    routing: input.routing,
    workspaces: input.workspaces,
    baseBranch: input.baseBranch,
  };
  const head: PairHead = {
    schema: 'portcullis/pair-head/v1',
    pair,
    headSha: input.headSha,
    baseSha: input.baseSha,
    execution: input.execution,
    generation: input.generation,
  };
  for (const { offer, record } of credentials) {
    const code: ClaimCodeRecord = {
      schema: 'portcullis/claim-code/v1',
      credentialId: record.id,
      expiresAt: Math.min(record.expiresAt, needs.now() + CLAIM_CODE_LIFETIME_MS),
      usedAt: null,
    };
    await needs.store.writeCredential(record, { codeHex: offer.codeDigestHex, record: code });
  }
  await needs.store.writeRoles(tenant, roles);
  // Last: what is asked for from now on is resolved against a complete pair.
  await needs.store.writeHead(tenant, head);
  await needs.store.appendAudit(
    tenant,
    auditWriter(tenant, needs.actionKey, 'pair_opened', { pair, head: input.headSha, by: input.by }),
  );
  return {
    pair,
    head,
    roles,
    credentials: credentials.map(({ record }) => ({ role: record.role, use: record.use, credentialId: record.id })),
  };
}

function refuseOlderWorkspaces(input: OpenPairInput, now: PairRoles | null): void {
  for (const role of EXECUTOR_ROLES) {
    const next = input.workspaces[role];
    const current = now?.workspaces[role];
    if (next === undefined || current === undefined) continue;
    const same = next.name === current.name && next.generation === current.generation;
    if (!same && next.generation <= current.generation) {
      throw portcullisError('state_conflict', { what: `the ${role} workspace of the pair` });
    }
  }
}

async function isThere(repository: ReturnType<typeof pairRepository>, commit: string): Promise<boolean> {
  return await repository.hasCommit(commit).catch(() => false);
}
