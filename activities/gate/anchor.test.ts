import { expect, test } from 'vitest';
import { auditDigest, type AuditEntry, type AuditHead, type SignedAuditEntry } from '../../schemas/audit.ts';
import { generateSigningKey, parseVerifyingKey, verifyText } from '../signing/keys.ts';
import { anchorText } from '../../policies/audit/walk.ts';
import { anchorAudit, type AuditReader } from './anchor.ts';

const entry: AuditEntry = {
  schema: 'portcullis/audit/v1',
  tenant: 'local',
  n: 1,
  previous: null,
  event: 'verify_ended',
  refs: { task: 't1' },
  at: 1,
  writer: 'control',
  keyId: 'k',
};
const signed: SignedAuditEntry = { entry, digest: auditDigest(entry), signature: '' };

function reader(head: AuditHead, newest: SignedAuditEntry | null): AuditReader {
  return { readAuditHead: () => Promise.resolve(head), readAuditEntry: () => Promise.resolve(newest) };
}

test('an anchor signs where the chain stands, for one tenant', async () => {
  const key = generateSigningKey();
  const head = { n: 1, digest: signed.digest };
  const anchor = await anchorAudit(reader(head, signed), key, 'local');
  expect(verifyText(parseVerifyingKey(key.publicPem), anchorText('local', head), anchor.signature)).toBe(true);
  expect(verifyText(parseVerifyingKey(key.publicPem), anchorText('other', head), anchor.signature)).toBe(false);
});

test('an empty chain can be anchored too, so that its truncation to nothing shows', async () => {
  const anchor = await anchorAudit(reader({ n: 0, digest: null }, null), generateSigningKey(), 'local');
  expect(anchor.head.n).toBe(0);
});

test.each<[string, SignedAuditEntry | null]>([
  ['is missing', null],
  ['has other bytes under the same digest', { ...signed, entry: { ...entry, refs: { task: 't2' } } }],
  ['is of another tenant', { ...signed, entry: { ...entry, tenant: 'other' } }],
])('[inv-01] nothing is anchored when the newest entry %s', async (_, newest) => {
  const anchoring = anchorAudit(reader({ n: 1, digest: signed.digest }, newest), generateSigningKey(), 'local');
  await expect(anchoring).rejects.toMatchObject({ code: 'signature_invalid' });
});
