/** Makes sure that the operator's bearer file holds one that this gateway takes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayClient } from '../../client/gateway-client.ts';
import { KEY_FILES, readSecret, writeSecret } from '../../local/keys.ts';
import { issueOperatorClaim } from '../../local/operator.ts';
import type { StackAddresses } from '../../local/supervisor/plans.ts';
import { asPortcullisError } from '../../schemas/errors.ts';
import { neededSetting, type CliContext } from '../context.ts';

/** @throws `store_unavailable`, `gateway_unavailable`, `claim_code_invalid` */
export async function ensureOperator(
  context: CliContext,
  addresses: Pick<StackAddresses, 'gateway' | 'store'>,
): Promise<void> {
  const file = neededSetting(context, 'credential.file');
  const client = new GatewayClient({ url: addresses.gateway });
  if (existsSync(file) && (await isTaken(client.as(readSecret(file))))) return;
  const tenant = context.settings.text('tenant');
  const passwordFile = join(neededSetting(context, 'keys.dir'), KEY_FILES.storePassword('control'));
  const code = await issueOperatorClaim({ url: addresses.store, controlPassword: readSecret(passwordFile) }, tenant);
  const { bearer } = await client.exchangeClaim({ tenant, code });
  writeSecret(file, bearer);
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
