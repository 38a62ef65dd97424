/** Stored results of verify requests, and the pointer to a pair's newest one. */
import { z } from 'zod';
import { prepareStatementSchema } from '../../../schemas/verify/prepare.schema.ts';
import { CONTAINMENTS, ENDING_LIMITS, type StreamSummary, type TestCounts } from '../../../schemas/verify/report.ts';
import { GATE_GRADE_REASONS, VERIFY_STATUSES, type VerifyResult } from '../../../schemas/verify/result.ts';
import type { VerificationPointer } from '../port.ts';
import { bytesDigest, count, executorRole, policyRef, recordDigest, routingRef } from './fields.ts';

const streamSummary: z.ZodType<StreamSummary> = z.strictObject({
  bytes: count,
  stored: count,
  truncated: z.boolean(),
  stored_digest: bytesDigest,
  full_digest: bytesDigest,
  chunks: count,
  chunks_failed: count,
});

const testCounts: z.ZodType<TestCounts> = z.strictObject({
  executed: count,
  passed: count,
  failed: count,
  skipped: count,
  provenance: z.enum(['reporter_file', 'stdout']),
});

export const verifyResultRecord: z.ZodType<VerifyResult> = z.strictObject({
  schema: z.literal('portcullis/verify-result/v1'),
  task_id: z.string(),
  request_digest: recordDigest('request'),
  status: z.enum(VERIFY_STATUSES),
  attestation: z.enum(['producer', 'verifier']),
  satisfied: z.boolean(),
  reasons: z.array(z.string()),
  argv_requested: z.array(z.string()),
  argv_executed: z.array(z.string()),
  exit_code: z.number().int().nullable(),
  signal: z.string().nullable(),
  timed_out: z.boolean(),
  cancelled: z.boolean(),
  duration_ms: count,
  observed_at: count,
  stdout_ref: z.string(),
  stderr_ref: z.string(),
  stdout: streamSummary.nullable(),
  stderr: streamSummary.nullable(),
  artifacts: z.array(z.strictObject({ path: z.string(), sha256: bytesDigest, bytes: count })),
  executor: z.strictObject({ role: executorRole, workspace: z.string(), generation: count }),
  subject: z.strictObject({
    head_sha: z.string(),
    execution: z.string(),
    generation: count,
    tree_before: z.string().nullable(),
    tree_after: z.string().nullable(),
  }),
  definitions: z.array(
    z.strictObject({ path: z.string(), base_digest: bytesDigest.nullable(), head_digest: bytesDigest.nullable() }),
  ),
  tests: z.union([testCounts, z.literal('unknown')]).nullable(),
  prepare: prepareStatementSchema.nullable(),
  toolchain: z.strictObject({ digest: bytesDigest }).nullable(),
  policy: policyRef,
  routing: routingRef.nullable(),
  gate_grade: z.strictObject({ eligible: z.boolean(), reasons: z.array(z.enum(GATE_GRADE_REASONS)) }),
  sandbox: z
    .strictObject({
      containment: z.enum(CONTAINMENTS),
      network: z.enum(['none', 'host']),
      limits: z.record(z.string(), z.number()),
      exceeded: z.array(z.enum(ENDING_LIMITS)).exactOptional(),
    })
    .nullable(),
});

export const verificationPointerRecord: z.ZodType<VerificationPointer> = z.strictObject({
  schema: z.literal('portcullis/verification-pointer/v1'),
  taskId: z.string(),
  sequence: count,
  requestDigest: recordDigest('request'),
  status: z.enum(VERIFY_STATUSES),
  satisfied: z.boolean(),
});
