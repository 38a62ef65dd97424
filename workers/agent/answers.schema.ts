/** What the gateway answers to an agent's harness, checked. */
import { z } from 'zod';
import type { ContentDigest } from '../../schemas/digest.ts';
import type { ApprovalAnswer, HarnessContext, ReviewAnswer, SubmitAnswer } from '../../schemas/harness-api.ts';
import { ROLES } from '../../schemas/names.ts';

const digest = z.custom<ContentDigest>((value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value));
const role = z.enum(ROLES);

export const contextAnswer: z.ZodType<HarnessContext> = z.object({
  schema: z.literal('portcullis/harness-context/v1'),
  tenant: z.string(),
  pair: z.string(),
  role,
  workspace: z.string(),
  workspaceGeneration: z.int(),
  assignment: z
    .object({
      schema: z.literal('portcullis/assignment/v1'),
      pair: z.string(),
      role,
      workspaceGeneration: z.int(),
      execution: z.object({ id: z.string(), generation: z.int() }),
      phase: z.string(),
      revision: z.int(),
      round: z.int(),
      title: z.string(),
      goal: z.string(),
      branch: z.string(),
      baseBranch: z.string(),
      base: z.string().nullable(),
      head: z.string(),
      plan: z.object({ revision: z.int(), commit: z.string() }).nullable(),
      segment: z.object({ n: z.int(), of: z.int() }).nullable(),
      segmentBase: z.string().nullable(),
      feedback: z.string().nullable(),
      review: z.string().nullable(),
      approvalId: z.string().nullable(),
      evaluation: z.int().nullable(),
      verifierClass: z.string().nullable(),
      blockers: z.array(
        z.object({
          findingId: z.string(),
          digest: z.string(),
          type: z.string(),
          severity: z.string(),
          location: z.object({ path: z.string(), fromLine: z.int(), toLine: z.int() }).nullable(),
          failureScenario: z.string(),
          requiredFix: z.string(),
        }),
      ),
    })
    .nullable(),
  approval: z.object({ id: z.string(), token: z.string(), expiresAt: z.number() }).nullable(),
});

export const submitAnswer: z.ZodType<SubmitAnswer> = z.object({
  schema: z.literal('portcullis/submitted/v1'),
  revision: z.int(),
  phase: z.string(),
});

export const reviewAnswer: z.ZodType<ReviewAnswer> = z.object({
  schema: z.literal('portcullis/review-appended/v1'),
  name: z.string(),
  bytes: z.int(),
  digest,
});

export const approvalAnswer: z.ZodType<ApprovalAnswer> = z.object({
  schema: z.literal('portcullis/approval-answered/v1'),
  approvalId: z.string(),
  verdict: z.enum(['APPROVED', 'REJECTED']),
  outcome: z.enum(['consumed', 'repeated']),
});
