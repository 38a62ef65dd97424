import { expect, test } from 'vitest';
import { approvalId } from './approval.ts';

const terms = {
  tenant: 'local',
  ticket: 'T-1',
  execution: { id: 'e1', generation: 1 },
  phase: 'segment_review',
  planRevision: 1,
  evaluation: 1,
  round: 1,
  head: 'a'.repeat(40),
  workspaceGeneration: 1,
  review: 'segment-1-eval.md',
};

test('the same terms have the same id, whatever the clock says', () => {
  expect(approvalId({ ...terms, ...{ expiresAt: 1 } })).toBe(approvalId({ ...terms, ...{ expiresAt: 2 } }));
});

test.each([
  { tenant: 'acme' },
  { ticket: 'T-2' },
  { execution: { id: 'e2', generation: 2 } },
  { phase: 'plan_review' },
  { planRevision: 2 },
  { evaluation: 2 },
  { round: 2 },
  { head: 'b'.repeat(40) },
  { workspaceGeneration: 2 },
  { review: 'segment-1-security.md' },
])('[inv-04] other terms have another: %o', (change) => {
  expect(approvalId({ ...terms, ...change })).not.toBe(approvalId(terms));
});
