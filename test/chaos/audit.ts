/** The audit chain of a running stack, from its first entry to its head. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditReader } from '../../activities/store/audit-chain.ts';
import { connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { parseVerifyingKey, verifyText } from '../../activities/signing/keys.ts';
import { KEY_FILES, readSecret } from '../../local/keys.ts';
import { localStoreUrl } from '../../local/store.ts';
import { auditDigest, type AuditHead } from '../../schemas/audit.ts';
import type { Stack } from '../e2e/stage.ts';

const TENANT = 'local';

export interface AuditWitness {
  /** Remembers where the chain stands now: whatever comes, this must stay in it. */
  look(): Promise<void>;
  /** What is wrong with the chain; nothing when it is whole and everything seen is still in it. */
  faults(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function openWitness(stack: Stack): Promise<AuditWitness> {
  const connection = await connectStore({
    url: localStoreUrl(stack.state().ports.store),
    user: 'reader',
    password: readSecret(join(stack.paths.keys, KEY_FILES.storePassword('reader'))),
  });
  const seen: AuditHead[] = [];
  return {
    async look() {
      seen.push(await auditReader(connection).readAuditHead(TENANT));
    },
    faults: () => faultsOf(stack, connection, seen),
    close: () => connection.close(),
  };
}

async function faultsOf(stack: Stack, connection: StoreConnection, seen: readonly AuditHead[]) {
  const chain = auditReader(connection);
  const keys = [KEY_FILES.actionPublic, KEY_FILES.gatePublic].map((file) =>
    parseVerifyingKey(readFileSync(join(stack.paths.keys, file), 'utf8')),
  );
  const head = await chain.readAuditHead(TENANT);
  const digests: AuditHead['digest'][] = [null];
  for (let n = 1; n <= head.n; n += 1) {
    const signed = await chain.readAuditEntry(TENANT, n);
    if (signed === null) return [`audit entry ${n} of ${head.n} is missing`];
    const { entry, digest, signature } = signed;
    const key = keys.find(({ keyId }) => keyId === entry.keyId);
    if (auditDigest(entry) !== digest) return [`audit entry ${n} is not what its digest says`];
    if (entry.n !== n || entry.previous !== digests[n - 1]) return [`audit entry ${n} does not follow the one before`];
    if (key === undefined || !verifyText(key, digest, signature))
      return [`audit entry ${n} is not signed by ${entry.writer}`];
    digests.push(digest);
  }
  if (digests[head.n] !== head.digest) return ['the head of the audit chain names another entry'];
  return seen
    .filter(({ n, digest }) => digests[n] !== digest)
    .map(({ n }) => `audit entry ${n} was there and is another now`);
}
