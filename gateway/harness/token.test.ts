import { expect, test } from 'vitest';
import { approvalToken, isApprovalToken } from './token.ts';

const key = new Uint8Array(32).fill(7);
const token = approvalToken(key, 'local', 'an-approval');

test('a token is good for its key, tenant and approval, and for nothing else', () => {
  expect(isApprovalToken(key, 'local', 'an-approval', token)).toBe(true);
  expect(isApprovalToken(new Uint8Array(32).fill(8), 'local', 'an-approval', token)).toBe(false);
  expect(isApprovalToken(key, 'acme', 'an-approval', token)).toBe(false);
  expect(isApprovalToken(key, 'local', 'another', token)).toBe(false);
});

test.each(['', token.slice(1), `${token}=`, token.toLowerCase(), 'A'.repeat(43)])('%j is none', (given) => {
  expect(isApprovalToken(key, 'local', 'an-approval', given)).toBe(false);
});
