/** Makes signed entries of the audit chain for whatever head the store shows. */
import {
  auditDigest,
  type AuditEntry,
  type AuditEvent,
  type AuditHead,
  type SignedAuditEntry,
} from '../../schemas/audit.ts';
import { signText, type SigningKey } from '../signing/keys.ts';

/** A function that makes the entry after a given head; the store calls it again when the chain moved meanwhile. */
export function auditWriter(
  tenant: string,
  key: SigningKey,
  event: AuditEvent,
  refs: Readonly<Record<string, string>>,
  writer: AuditEntry['writer'] = 'control',
): (head: AuditHead) => Promise<SignedAuditEntry> {
  return (head) => {
    const entry: AuditEntry = {
      schema: 'portcullis/audit/v1',
      tenant,
      n: head.n + 1,
      previous: head.digest,
      event,
      refs,
      at: Date.now(),
      writer,
      keyId: key.keyId,
    };
    const digest = auditDigest(entry);
    return Promise.resolve({ entry, digest, signature: signText(key, digest) });
  };
}
