/**
 * Approval tokens: an HMAC over the approval's id. The gateway makes one whenever the bound workspace asks and keeps none, so
 * a token passes neither through Temporal nor through the store.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export function approvalToken(approvalKey: Uint8Array, tenant: string, approvalId: string): string {
  return createHmac('sha256', approvalKey).update(tenant).update('\0').update(approvalId).digest('base64url');
}

/** In constant time. */
export function isApprovalToken(approvalKey: Uint8Array, tenant: string, approvalId: string, given: string): boolean {
  const expected = Buffer.from(approvalToken(approvalKey, tenant, approvalId));
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
