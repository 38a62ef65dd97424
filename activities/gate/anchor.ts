/**
 * Anchors the audit chain: the gate worker signs where the chain stands, and the signature is kept in Temporal's history,
 * beyond the reach of whoever can rewrite the store (spec/gate.md section 8).
 */
import { auditDigest, type AuditHead, type SignedAuditEntry } from '../../schemas/audit.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { signText, type SigningKey } from '../signing/keys.ts';

export interface AuditAnchor {
  readonly schema: 'portcullis/audit-anchor/v1';
  readonly tenant: string;
  readonly head: AuditHead;
  /** Ed25519 over `anchor NUL tenant NUL n NUL digest`, base64. */
  readonly signature: string;
  readonly keyId: string;
}

/** The part of the store that anchoring reads. */
export interface AuditReader {
  readAuditHead(tenant: string): Promise<AuditHead>;
  readAuditEntry(tenant: string, n: number): Promise<SignedAuditEntry | null>;
}

/** @throws `signature_invalid` when the newest entry is missing, is another one, or is not what its digest says */
export async function anchorAudit(store: AuditReader, key: SigningKey, tenant: string): Promise<AuditAnchor> {
  const head = await store.readAuditHead(tenant);
  if (head.n > 0) await checkNewest(store, tenant, head);
  return {
    schema: 'portcullis/audit-anchor/v1',
    tenant,
    head,
    signature: signText(key, anchorText(tenant, head)),
    keyId: key.keyId,
  };
}

/** What an anchor's signature is made over. */
export function anchorText(tenant: string, head: AuditHead): string {
  return ['anchor', tenant, String(head.n), head.digest ?? ''].join('\0');
}

async function checkNewest(store: AuditReader, tenant: string, head: AuditHead): Promise<void> {
  const newest = await store.readAuditEntry(tenant, head.n);
  const genuine =
    newest !== null &&
    newest.entry.n === head.n &&
    newest.entry.tenant === tenant &&
    newest.digest === head.digest &&
    auditDigest(newest.entry) === head.digest;
  if (!genuine) throw portcullisError('signature_invalid', { what: `audit entry ${head.n}` });
}
