/** The audit chain of a running stack, from its first entry to its head. */
import { join } from 'node:path';
import { auditReader } from '../../activities/store/audit-chain.ts';
import { connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { verifyText } from '../../activities/signing/keys.ts';
import { publicKeys } from '../../activities/signing/public-keys.ts';
import { KEY_FILES, readSecret } from '../../local/keys.ts';
import { localStoreUrl } from '../../local/store.ts';
import { walkAuditChain } from '../../policies/audit/walk.ts';
import type { AuditHead } from '../../schemas/audit.ts';
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
  const store = auditReader(connection);
  const [control = [], gate = []] = await Promise.all(
    [KEY_FILES.controlPublic, KEY_FILES.gatePublic].map((file) => publicKeys(join(stack.paths.keys, file))()),
  );
  const keys = { control, gate };
  const chain = walkAuditChain(
    TENANT,
    (writer, keyId, text, signature) => {
      const key = keys[writer].find((known) => known.keyId === keyId);
      return key !== undefined && verifyText(key, text, signature);
    },
    [],
  );
  const head = await store.readAuditHead(TENANT);
  const digests: AuditHead['digest'][] = [null];
  for (let n = 1; n <= head.n; n += 1) {
    const signed = await store.readAuditEntry(TENANT, n);
    if (signed !== null) chain.take([signed]);
    digests.push(signed?.digest ?? null);
  }
  return [
    ...chain.end(head).map(({ code, n }) => `audit entry ${n}: ${code}`),
    ...seen
      .filter(({ n, digest }) => digests[n] !== digest)
      .map(({ n }) => `audit entry ${n} was there and is another now`),
  ];
}
