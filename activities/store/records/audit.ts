/** Stored entries of the audit chain and its head. */
import { z } from 'zod';
import { AUDIT_EVENTS, type AuditHead, type SignedAuditEntry } from '../../../schemas/audit.ts';
import { count, recordDigest } from './fields.ts';
import { readRecord, recordText } from './read.ts';

export const auditEntryRecord: z.ZodType<SignedAuditEntry> = z.strictObject({
  entry: z.strictObject({
    schema: z.literal('portcullis/audit/v1'),
    tenant: z.string(),
    n: count,
    previous: recordDigest('audit').nullable(),
    event: z.enum(AUDIT_EVENTS),
    refs: z.record(z.string(), z.string()),
    at: count,
    writer: z.enum(['control', 'gate']),
    keyId: z.string(),
  }),
  digest: recordDigest('audit'),
  signature: z.string(),
});

const auditHeadRecord = z.strictObject({
  schema: z.literal('portcullis/audit-head/v1'),
  n: count,
  digest: recordDigest('audit'),
});

/** Where a chain stands that has no entry yet. */
export const EMPTY_CHAIN: AuditHead = { n: 0, digest: null };

/** @throws `record_unreadable` */
export function readHeadText(text: string | null): AuditHead {
  if (text === null) return EMPTY_CHAIN;
  const { n, digest } = readRecord('audit head', auditHeadRecord, text);
  return { n, digest };
}

/** The text of a head; empty for a chain without entries, as an absent key is compared. */
export function headText({ n, digest }: AuditHead): string {
  return digest === null ? '' : recordText({ schema: 'portcullis/audit-head/v1', n, digest });
}
