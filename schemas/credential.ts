/**
 * Credential records (DESIGN section 2, Credentials). Control writes them; the gateway reads one at each call. The bearer is
 * made from the record's id by the gateway's key and is got once, for a single-use claim code.
 */
import type { Role } from './names.ts';

export const CREDENTIAL_USES = ['executor', 'agent', 'operator'] as const;
export type CredentialUse = (typeof CREDENTIAL_USES)[number];

export interface CredentialRecord {
  readonly schema: 'portcullis/credential/v1';
  readonly id: string;
  readonly tenant: string;
  /** Empty for an operator, who belongs to a tenant and not to a pair. */
  readonly pair: string;
  readonly role: Role;
  readonly use: CredentialUse;
  /** Name of the workspace it lives in; empty for an operator. */
  readonly workspace: string;
  readonly workspaceGeneration: number;
  readonly execution: string;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly expiresAt: number;
  /** Revocation is a state, never a deletion: it must be read to be believed. */
  readonly state: 'active' | 'revoked';
}

/** What a single-use claim code stands for. Kept under the digest of the code. */
export interface ClaimCodeRecord {
  readonly schema: 'portcullis/claim-code/v1';
  readonly credentialId: string;
  readonly expiresAt: number;
  readonly usedAt: number | null;
}
