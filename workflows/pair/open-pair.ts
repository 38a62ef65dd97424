/** `openPair`: a repository is taken in and a pair's head, roles and credentials are written. Short; owns nothing. */
import { proxyActivities, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { CredentialRecord } from '../../schemas/credential.ts';
import type { PairActivities } from '../../schemas/pair-activities.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import type { ClaimOffer, OpenPairInput, OpenPairResult } from '../../schemas/verify/workflow.ts';
import { PAIR_OPTIONS, PAIR_IMPORT_OPTIONS } from './options.ts';

const { recordPair } = proxyActivities<PairActivities>(PAIR_OPTIONS);
const { importRepository } = proxyActivities<PairActivities>(PAIR_IMPORT_OPTIONS);

export async function openPair(input: OpenPairInput): Promise<OpenPairResult> {
  const { tenant, pair, importId, headSha, baseSha } = input;
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.waitingOn, value: 'repository' }]);
  await importRepository({ tenant, pair, importId, headSha, baseSha });
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.waitingOn, value: 'store' }]);
  const credentials = input.claims.map((offer) => ({ offer, record: credentialOf(input, offer) }));
  return await recordPair({ input, credentials });
}

/** The same record on every retry: its id comes from the offer, its times from the workflow's clock. */
function credentialOf(input: OpenPairInput, offer: ClaimOffer): CredentialRecord {
  return {
    schema: 'portcullis/credential/v1',
    id: `c${offer.codeDigestHex.slice(0, 32)}`,
    tenant: input.tenant,
    pair: input.pair,
    role: offer.role,
    use: offer.use,
    workspace: offer.workspace,
    workspaceGeneration: offer.workspaceGeneration,
    execution: input.execution,
    expiresAt: workflowInfo().startTime.getTime() + offer.lifetimeSecs * 1000,
    state: 'active',
  };
}
