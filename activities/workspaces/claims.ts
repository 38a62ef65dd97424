/**
 * Single-use claim codes of a workspace. Each is made from control's own key and the run, so a create that is repeated gives the same
 * one; it goes to Coder as a template parameter and is nowhere else: not in the store, a log or a history.
 */
import { createHmac } from 'node:crypto';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import type { CredentialUse } from '../../schemas/credential.ts';

export type WorkspaceUse = Exclude<CredentialUse, 'operator'>;

/** 256 bits, base64url. */
export function claimCode(claimKey: Uint8Array, run: string, use: WorkspaceUse): string {
  return createHmac('sha256', claimKey).update(`${run}/${use}`).digest('base64url');
}

/** What the code is kept under, and what its credential is called. */
export function claimNames(code: string): { readonly codeHex: string; readonly credentialId: string } {
  const codeHex = digestHex(contentDigest(new TextEncoder().encode(code)));
  return { codeHex, credentialId: `c${codeHex.slice(0, 32)}` };
}
