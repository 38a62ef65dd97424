/** The request as it comes over the wire, read strictly: unknown keys are refused (spec/delegated-verification.md section 1). */
import { z } from 'zod';
import { portcullisError } from '../errors.ts';
import { COMMIT_PATTERN, EXECUTOR_ROLES, NAME_PATTERN } from '../names.ts';
import { WORKING_DIRECTORIES } from './request.ts';

/** Limits of the wire form; templates are narrower (spec section 3). */
export const REQUEST_LIMITS = { arguments: 32, argumentBytes: 256, argvBytes: 2048, artifacts: 32, attempt: 1_000_000 };

const name = z.string().regex(NAME_PATTERN);
const utf8Bytes = (text: string) => new TextEncoder().encode(text).length;

/** No control characters, no lone surrogates: they have no place in an argv and no canonical bytes. */
const argument = z
  .string()
  .min(1)
  .refine((text) => utf8Bytes(text) <= REQUEST_LIMITS.argumentBytes, 'is longer than 256 bytes')
  .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'has a control character');

/** A relative path that stays inside: no leading slash, no empty, `.` or `..` segment. */
const artifactPath = argument.refine(
  (text) => !text.startsWith('/') && text.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
  'is not a relative path inside the repository',
);

const argv = z
  .array(argument)
  .min(1)
  .max(REQUEST_LIMITS.arguments)
  .refine((args) => args.reduce((sum, text) => sum + utf8Bytes(text), 0) <= REQUEST_LIMITS.argvBytes, {
    error: 'is longer than 2 KiB in all',
  });

const verify = z.strictObject({
  kind: z.literal('command'),
  cwd: z.enum(WORKING_DIRECTORIES),
  argv,
  timeout_secs: z.int().min(1).max(3600),
  expect: z.strictObject({
    exit_code: z.int().min(0).max(255),
    artifacts: z.array(artifactPath).max(REQUEST_LIMITS.artifacts).default([]),
  }),
  executor: z.enum(EXECUTOR_ROLES).optional(),
  subject: z
    .strictObject({
      head_sha: z.string().regex(COMMIT_PATTERN),
      execution: name,
      generation: z.int().min(1).max(1_000_000_000),
    })
    .optional(),
  attempt: z.int().min(1).max(REQUEST_LIMITS.attempt).default(1),
});

const request = z.strictObject({ task_type: z.literal('verify'), pair_id: name, verify });

/** In the protocol, and not served yet; said by name, so that nobody takes it for a misspelling. */
const reserved = z.looseObject({ verify: z.looseObject({ kind: z.literal('artifact_check') }) });

export type WireRequest = z.infer<typeof request>;

/** @throws `schema_invalid` naming the first field that is wrong, `unsupported_operation` for a reserved kind. */
export function parseWireRequest(value: unknown): WireRequest {
  if (reserved.safeParse(value).success) {
    throw portcullisError('unsupported_operation', { reason: 'the kind artifact_check is reserved' });
  }
  const parsed = request.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join('.').slice(0, 100);
  throw portcullisError('schema_invalid', {
    path: path === undefined || path === '' ? 'request' : path,
    reason: (issue?.message ?? 'is not a verify request').slice(0, 200),
  });
}
