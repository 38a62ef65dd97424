/** Reads one credential's record, whichever user asks. */
import type { CredentialRecord } from '../../schemas/credential.ts';
import { keysOf } from '../../schemas/keys.ts';
import type { StoreConnection } from './connect.ts';
import { credentialRecord } from './records/pair.ts';
import { readOptional } from './records/read.ts';

/** @throws `store_unavailable`, `record_unreadable` */
export async function readCredential(
  connection: StoreConnection,
  tenant: string,
  id: string,
): Promise<CredentialRecord | null> {
  const text = await connection.run((redis) => redis.get(keysOf(tenant).credential(id)));
  return readOptional('credential', credentialRecord, text);
}
