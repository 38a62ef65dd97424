/** Bodies of the operator API as they come over the wire. */
import { z } from 'zod';
import { CREDENTIAL_USES } from './credential.ts';
import { digest } from './gate/fields.schema.ts';
import { REASON_LIMIT } from './gate/human.ts';
import { GATE_KINDS, HUMAN_ANSWERS, OVERRIDABLE_CASES } from './gate/vocabulary.ts';
import { ticketDefinitionSchema } from './ticket/definition.schema.ts';
import { COMMIT_PATTERN, EXECUTOR_ROLES, NAME_PATTERN, ROLES } from './names.ts';

const name = z.string().regex(NAME_PATTERN);
const commit = z.string().regex(COMMIT_PATTERN);
const generation = z.int().min(1).max(1_000_000_000);
const workspace = z.strictObject({ name, generation });

/** A year: longer than any execution, shorter than for ever. */
const MAX_LIFETIME_SECS = 366 * 24 * 3600;

const claim = z.strictObject({
  role: z.enum(ROLES).exclude(['operator']),
  // An operator's credential belongs to no pair and is never made by opening one.
  use: z.enum(CREDENTIAL_USES).exclude(['operator']),
  workspace: z.union([name, z.literal('')]),
  workspaceGeneration: z.int().min(0).max(1_000_000_000),
  codeDigestHex: z.string().regex(/^[0-9a-f]{64}$/),
  lifetimeSecs: z.int().min(1).max(MAX_LIFETIME_SECS),
});

export const openPairRequestSchema = z.strictObject({
  pair: name,
  importId: name.nullable(),
  headSha: commit,
  baseSha: commit.nullable(),
  execution: name,
  generation,
  roles: z.array(z.enum(ROLES)).min(1).max(ROLES.length),
  routing: z.strictObject({
    default: z.enum(EXECUTOR_ROLES),
    permitted: z.array(z.enum(EXECUTOR_ROLES)).min(1).max(EXECUTOR_ROLES.length),
  }),
  workspaces: z.partialRecord(z.enum(EXECUTOR_ROLES), workspace),
  baseBranch: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]*$/),
  claims: z.array(claim).max(16),
});

export const killSwitchRequestSchema = z.strictObject({
  on: z.boolean(),
  reason: z.string().trim().min(1).max(500),
  cancelRunning: z.boolean(),
  scope: z.enum(['tenant', 'installation']).default('tenant'),
});

const reason = z.string().trim().min(1).max(500);

export const startTicketRequestSchema = z.strictObject({
  definition: ticketDefinitionSchema,
  source: z
    .strictObject({
      importId: name.nullable(),
      baseSha: commit.nullable(),
      remote: z.string().min(1).max(1024).nullable(),
    })
    .refine(({ baseSha, remote }) => baseSha !== null || remote !== null, 'names a base or a remote'),
});

export const decideTicketRequestSchema = z.strictObject({
  decision: z.enum(['retry', 'resume', 'abandon']),
  reason,
  revision: z.int().min(0).max(1_000_000_000),
});

export const decideGateRequestSchema = z
  .strictObject({
    gate: z.enum(GATE_KINDS),
    subjectDigest: digest('subject'),
    decision: z.enum(HUMAN_ANSWERS),
    case: z.enum(OVERRIDABLE_CASES).nullable(),
    reason: z.string().trim().min(1).max(REASON_LIMIT),
    expiresAt: z.int().min(0).max(8_640_000_000_000_000).nullable(),
    revision: z.int().min(0).max(1_000_000_000),
  })
  .refine((of) => (of.case !== null) === (of.decision === 'override'), {
    path: ['case'],
    error: 'goes with an override and with nothing else',
  });

export const teardownRequestSchema = z.strictObject({ reason });

export const rulingRequestSchema = z.strictObject({ ruling: z.enum(['retry', 'orphan', 'close']), reason });
