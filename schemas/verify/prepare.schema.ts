/** What an executor may say of a preparation, checked at the door and again when a stored result is read. */
import { z } from 'zod';
import type { ContentDigest } from '../digest.ts';
import { REGISTRIES } from '../egress.ts';
import { PREPARE_OUTCOMES, PREPARE_TOOLS, type PrepareStatement } from './prepare.ts';

export const PREPARE_STATEMENT_LIMITS = { commands: 8, arguments: 32, argumentChars: 256, lockfiles: 64 } as const;

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const text = (maxChars: number) =>
  z
    .string()
    .max(maxChars)
    .refine((value) => !value.includes('\0') && value.isWellFormed(), 'must be well-formed text without NUL');
const digest = z.custom<ContentDigest>(
  (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value),
  'must be sha256: and 64 hex digits',
);

const { commands, arguments: words, argumentChars, lockfiles } = PREPARE_STATEMENT_LIMITS;

export const prepareStatementSchema: z.ZodType<PrepareStatement> = z.strictObject({
  step: text(64),
  tool: z.enum(PREPARE_TOOLS),
  commands: z.array(z.array(text(argumentChars)).max(words)).max(commands),
  registries: z.array(z.enum(REGISTRIES)).max(REGISTRIES.length),
  cache: z.enum(['hit', 'miss', 'none']),
  lockfiles: z.array(z.strictObject({ path: text(1024), sha256: digest })).max(lockfiles),
  duration_ms: count,
  outcome: z.enum(PREPARE_OUTCOMES),
  reason: text(1024),
  requests: count,
  refused: count,
  bytes: count,
});
