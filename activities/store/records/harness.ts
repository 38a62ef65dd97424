/** Stored records of what agents are asked and of what they answer. */
import { z } from 'zod';
import type { ApprovalBinding, ApprovalUse } from '../../../schemas/approval.ts';
import type { Assignment, ReviewEntry } from '../../../schemas/harness-api.ts';
import { bytesDigest, count, role } from './fields.ts';

const execution = z.strictObject({ id: z.string(), generation: count });

export const assignmentRecord: z.ZodType<Assignment> = z.strictObject({
  schema: z.literal('portcullis/assignment/v1'),
  pair: z.string(),
  role,
  workspaceGeneration: count,
  execution,
  phase: z.string(),
  revision: count,
  round: count,
  title: z.string(),
  goal: z.string(),
  branch: z.string(),
  baseBranch: z.string(),
  base: z.string().nullable(),
  head: z.string(),
  plan: z.strictObject({ revision: count, commit: z.string() }).nullable(),
  segment: z.strictObject({ n: count, of: count }).nullable(),
  segmentBase: z.string().nullable(),
  feedback: z.string().nullable(),
  review: z.string().nullable(),
  approvalId: z.string().nullable(),
  evaluation: count.nullable(),
  verifierClass: z.string().nullable(),
  blockers: z.array(
    z.strictObject({
      findingId: z.string(),
      digest: z.string(),
      type: z.string(),
      severity: z.string(),
      location: z.strictObject({ path: z.string(), fromLine: count, toLine: count }).nullable(),
      failureScenario: z.string(),
      requiredFix: z.string(),
    }),
  ),
});

export const approvalRecord: z.ZodType<ApprovalBinding> = z.strictObject({
  schema: z.literal('portcullis/approval/v1'),
  id: z.string(),
  tenant: z.string(),
  ticket: z.string(),
  execution,
  phase: z.string(),
  planRevision: count,
  evaluation: count,
  round: count,
  head: z.string(),
  workspaceGeneration: count,
  review: z.string(),
  expiresAt: count,
});

export const approvalUseRecord: z.ZodType<ApprovalUse> = z.strictObject({
  schema: z.literal('portcullis/approval-use/v1'),
  id: z.string(),
  by: z.string(),
  verdict: z.enum(['APPROVED', 'REJECTED']),
  reviewDigest: bytesDigest,
});

export const reviewEntryRecord: z.ZodType<ReviewEntry> = z.strictObject({ name: z.string(), digest: bytesDigest });
