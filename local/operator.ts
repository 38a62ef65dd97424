/** The local operator's credential: written by the store's user `control`, got once for a claim code like any other. */
import { randomBytes, randomUUID } from 'node:crypto';
import { connectStore } from '../activities/store/connect.ts';
import { controlStore } from '../activities/store/control.ts';
import { contentDigest, digestHex } from '../schemas/digest.ts';

const LIFETIME_MS = 365 * 24 * 60 * 60_000;
const CODE_LIFETIME_MS = 10 * 60_000;

/**
 * Writes a new operator's credential record and the claim code that fetches its bearer from the gateway.
 * @returns the code; it is good once, for ten minutes
 * @throws `store_unavailable`
 */
export async function issueOperatorClaim(
  store: { readonly url: string; readonly controlPassword: string },
  tenant: string,
): Promise<string> {
  const connection = await connectStore({ url: store.url, user: 'control', password: store.controlPassword });
  try {
    const control = controlStore(connection);
    const now = await control.now();
    const id = `operator-${randomUUID()}`;
    const code = randomBytes(32).toString('base64url');
    await control.writeCredential(
      {
        schema: 'portcullis/credential/v1',
        id,
        tenant,
        pair: '',
        role: 'operator',
        use: 'operator',
        workspace: '',
        workspaceGeneration: 0,
        execution: '',
        expiresAt: now + LIFETIME_MS,
        state: 'active',
      },
      {
        codeHex: digestHex(contentDigest(new TextEncoder().encode(code))),
        record: {
          schema: 'portcullis/claim-code/v1',
          credentialId: id,
          expiresAt: now + CODE_LIFETIME_MS,
          usedAt: null,
        },
      },
    );
    return code;
  } finally {
    await connection.close();
  }
}
