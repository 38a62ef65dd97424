/** Makes sure that the operator's bearer in `.portcullis/keys/operator` is one that this gateway takes. */
import { existsSync } from 'node:fs';
import { GatewayClient } from '../../client/gateway-client.ts';
import { readSecret, storePasswords, writeSecret } from '../../local/keys.ts';
import { issueOperatorClaim } from '../../local/operator.ts';
import type { StackAddresses } from '../../local/supervisor/plans.ts';
import { asPortcullisError } from '../../schemas/errors.ts';
import type { CliContext } from '../context.ts';

/** @throws `store_unavailable`, `gateway_unavailable`, `claim_code_invalid` */
export async function ensureOperator({ paths, settings }: CliContext, addresses: StackAddresses): Promise<void> {
  const client = new GatewayClient({ url: addresses.gateway });
  if (existsSync(paths.operator) && (await isTaken(client.as(readSecret(paths.operator))))) return;
  const tenant = settings.text('tenant');
  const controlPassword = storePasswords(paths.keys).control;
  const code = await issueOperatorClaim({ url: addresses.store, controlPassword }, tenant);
  const { bearer } = await client.exchangeClaim({ tenant, code });
  writeSecret(paths.operator, bearer);
}

/** The store may have been emptied or the gateway's key replaced since. */
async function isTaken(client: GatewayClient): Promise<boolean> {
  try {
    await client.status();
    return true;
  } catch (thrown) {
    const error = asPortcullisError(thrown);
    if (error.code === 'unauthenticated' || error.code === 'not_allowed') return false;
    throw error;
  }
}
