/** The exchange of a single-use claim code for a bearer: the only way one is ever got. */
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { isExecutorRole } from '../../schemas/names.ts';
import { executorQueue } from '../../schemas/queues.ts';
import type { CredentialRecord } from '../../schemas/credential.ts';
import type { ClaimExchange, ClaimGrant } from '../../schemas/workspace-api.ts';
import { makeBearer } from '../authority/bearer.ts';
import type { GatewayContext } from '../context.ts';

/** @throws `claim_code_invalid`, the same whether it is unknown, used, expired or of another tenant; `store_unavailable` */
export async function exchangeClaim(ctx: GatewayContext, { tenant, code }: ClaimExchange): Promise<ClaimGrant> {
  if (!ctx.tenants.includes(tenant)) throw portcullisError('claim_code_invalid');
  const codeHex = digestHex(contentDigest(new TextEncoder().encode(code)));
  const record = await ctx.store.consumeClaimCode(tenant, codeHex);
  const now = await ctx.store.now();
  // Revoked or run out before it was fetched: the code is spent all the same.
  if (record.tenant !== tenant || record.state !== 'active' || record.expiresAt <= now) {
    throw portcullisError('claim_code_invalid');
  }
  ctx.logger.info(
    { credential: record.id, pair: record.pair, role: record.role, use: record.use },
    'a claim code was used',
  );
  return {
    schema: 'portcullis/claim-grant/v1',
    bearer: makeBearer(ctx.keys.gatewayKey, tenant, record.id),
    tenant,
    pair: record.pair,
    role: record.role,
    workspace: record.workspace,
    workspaceGeneration: record.workspaceGeneration,
    expiresAt: record.expiresAt,
    executor: executorGrant(ctx, record),
  };
}

function executorGrant(ctx: GatewayContext, record: CredentialRecord): ClaimGrant['executor'] {
  const { tenant, pair, role, workspaceGeneration, use } = record;
  if (use !== 'executor' || !isExecutorRole(role)) return null;
  return {
    role,
    namespace: ctx.namespace,
    taskQueue: executorQueue({ tenant, pair, role, workspaceGeneration }),
    actionKey: ctx.keys.actionPublicKey,
  };
}
