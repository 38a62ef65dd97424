/** Bodies of the harness API (schemas/harness-api.ts), checked. */
import { z } from 'zod';
import type { ContentDigest } from '../../schemas/digest.ts';
import type { ApprovalAsk, SubmitPlan, SubmitReady, SubmitSegment } from '../../schemas/harness-api.ts';
import { COMMIT_PATTERN } from '../../schemas/names.ts';

const commit = z.string().regex(COMMIT_PATTERN, 'is not a commit');
const revision = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const digest = z.custom<ContentDigest>(
  (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value),
  'is not a digest',
);

export const submitPlanSchema: z.ZodType<SubmitPlan> = z.strictObject({ commit, revision });

export const submitSegmentSchema: z.ZodType<SubmitSegment> = z.strictObject({
  n: z.int().min(1).max(99),
  commit,
  revision,
});

export const submitReadySchema: z.ZodType<SubmitReady> = z.strictObject({ commit, revision });

export const approvalAskSchema: z.ZodType<ApprovalAsk> = z.strictObject({
  approvalId: z.string().regex(/^[0-9a-f]{64}$/, 'is not an approval'),
  token: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'is not a token'),
  reviewDigest: digest,
});
