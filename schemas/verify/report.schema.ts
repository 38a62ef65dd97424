/**
 * What may come out of a workspace, checked at the door: the report of a run, and the details of a heartbeat. Strict: an
 * unknown key, a number out of range or a text too long is refused, and nothing of it reaches a history.
 */
import { z } from 'zod';
import type { ContentDigest } from '../digest.ts';
import { prepareStatementSchema } from './prepare.schema.ts';
import { CONTAINMENTS, ENDING_LIMITS, RUN_OUTCOMES, type ExecutorReport } from './report.ts';

/** Bounds of a report. It carries references and digests, never output. */
export const REPORT_LIMITS = {
  /** Bytes of the report as JSON. */
  bytes: 256 * 1024,
  reasonChars: 1024,
  arguments: 64,
  argumentChars: 4096,
  artifacts: 256,
  pathChars: 1024,
  sandboxLimits: 32,
  storedBytes: 1024 * 1024,
  /** As many as the store takes of one stream. */
  chunks: 4096,
} as const;

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const digest = z.custom<ContentDigest>(
  (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value),
  'must be sha256: and 64 hex digits',
);
/** No NUL: a text with one is cut differently by different readers. */
const text = (maxChars: number) =>
  z
    .string()
    .max(maxChars)
    .refine((value) => !value.includes('\0') && value.isWellFormed(), 'must be well-formed text without NUL');

const stream = z
  .strictObject({
    bytes: count,
    stored: count.max(REPORT_LIMITS.storedBytes),
    truncated: z.boolean(),
    stored_digest: digest,
    full_digest: digest,
    chunks: count.max(REPORT_LIMITS.chunks),
    chunks_failed: count.max(REPORT_LIMITS.chunks),
  })
  .refine(({ bytes, stored }) => stored <= bytes, 'cannot have stored more than was written')
  .refine(({ bytes, stored, truncated }) => truncated === stored < bytes, 'must say truncated when bytes are missing');

const tests = z
  .strictObject({
    executed: count,
    passed: count,
    failed: count,
    skipped: count,
    provenance: z.enum(['reporter_file', 'stdout']),
  })
  .refine(({ executed, passed, failed }) => passed + failed <= executed, 'cannot have passed and failed more than ran');

export const executorReportSchema: z.ZodType<ExecutorReport> = z
  .strictObject({
    schema: z.literal('portcullis/executor-report/v1'),
    outcome: z.enum(RUN_OUTCOMES),
    reason: text(REPORT_LIMITS.reasonChars),
    argv_executed: z.array(text(REPORT_LIMITS.argumentChars)).max(REPORT_LIMITS.arguments),
    exit_code: z.number().int().min(0).max(255).nullable(),
    signal: z
      .string()
      .regex(/^SIG[A-Z0-9]{1,12}$/)
      .nullable(),
    duration_ms: count,
    stdout: stream,
    stderr: stream,
    artifacts: z
      .array(z.strictObject({ path: text(REPORT_LIMITS.pathChars), sha256: digest, bytes: count }))
      .max(REPORT_LIMITS.artifacts),
    missing_artifacts: z.array(text(REPORT_LIMITS.pathChars)).max(REPORT_LIMITS.artifacts),
    tree_after: text(128).nullable(),
    tests: z.union([tests, z.literal('unknown')]).nullable(),
    prepare: prepareStatementSchema.nullable(),
    toolchain: z.strictObject({ digest }).nullable(),
    sandbox: z.strictObject({
      containment: z.enum(CONTAINMENTS),
      network: z.enum(['none', 'host']),
      limits: z
        .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/), count)
        .refine((limits) => Object.keys(limits).length <= REPORT_LIMITS.sandboxLimits, 'names too many limits'),
      exceeded: z.array(z.enum(ENDING_LIMITS)).max(ENDING_LIMITS.length).exactOptional(),
    }),
  })
  .refine(
    ({ outcome, exit_code, signal }) => outcome !== 'completed' || (exit_code === null) !== (signal === null),
    'must name an exit code or a signal, and not both, when it completed',
  );

/** What an executor is doing, as a heartbeat may say it. */
export const HEARTBEAT_PHASES = ['fetching', 'preparing', 'running', 'uploading'] as const;

export interface HeartbeatDetails {
  readonly phase: (typeof HEARTBEAT_PHASES)[number];
}

export const heartbeatDetailsSchema: z.ZodType<HeartbeatDetails> = z.strictObject({ phase: z.enum(HEARTBEAT_PHASES) });

/** Bytes of a heartbeat's details as JSON. */
export const MAX_HEARTBEAT_BYTES = 1024;
