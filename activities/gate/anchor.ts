/**
 * Anchors the audit chain: the gate worker signs where the chain stands, and the signature is kept in Temporal's history,
 * beyond the reach of whoever can rewrite the store (spec/gate.md section 8).
 */
import { anchorText } from '../../policies/audit/walk.ts';
import { auditDigest, type AuditHead, type SignedAuditEntry } from '../../schemas/audit.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { AuditAnchor } from '../../schemas/gate/workflow.ts';
import { signText, type SigningKey } from '../signing/keys.ts';

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

/** The same, only when the chain has grown by `minimum` entries beyond `after`; `null` otherwise. @throws `signature_invalid` */
export async function anchorGrowth(
  store: AuditReader,
  key: SigningKey,
  { tenant, after, minimum }: { readonly tenant: string; readonly after: number; readonly minimum: number },
): Promise<AuditAnchor | null> {
  const { n } = await store.readAuditHead(tenant);
  // A head that went back is anchored too: the next look at both anchors shows it.
  if (n >= after && n < after + minimum) return null;
  return anchorAudit(store, key, tenant);
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
