/** A ticket file as it comes from outside (JSON, or YAML read into the same value): strict, bounded, with defaults. */
import { z } from 'zod';
import { id, prose, set } from '../gate/fields.schema.ts';
import { isBranch } from '../git/refs.ts';
import { METHODS, RISK_CLASSES } from '../gate/vocabulary.ts';
import { NAME_PATTERN } from '../names.ts';
import { WORKSPACE_ROLES } from '../workspace/workflow.ts';
import type { TicketDefinition } from './definition.ts';

/** A minute to four hours: what the registry's own bounds lie within. */
export const TICKET_TTL_BOUNDS = { min: 60, max: 4 * 3600 } as const;
/** More segments than this are more than one ticket. */
export const SEGMENT_LIMIT = 16;

const branch = z.string().refine(isBranch, 'is not the name of a branch');

const argument = z
  .string()
  .min(1)
  .max(1024)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'is not an argument');

const check = z.strictObject({
  check: id,
  argv: z.array(argument).min(1).max(64),
  timeoutSeconds: z.int().min(1).max(3600).default(300),
});

const criterion = z.strictObject({
  id,
  text: prose,
  required: z.boolean().default(true),
  methods: set(z.enum(METHODS), (method) => method, METHODS.length).min(1),
});

const ttl = z.int().min(TICKET_TTL_BOUNDS.min).max(TICKET_TTL_BOUNDS.max);

export const ticketDefinitionSchema = z.strictObject({
  schema: z.literal('portcullis/ticket/v1'),
  // The branches of its producers are named after it.
  id: z
    .string()
    .regex(NAME_PATTERN)
    .refine((name) => isBranch(`portcullis/${name}`), 'cannot name a branch'),
  title: z.string().trim().min(1).max(200),
  body: z.string().max(16_000).default(''),
  issueUrl: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null),
  repository: z.union([
    z.strictObject({ path: z.string().min(1).max(1024) }),
    z.strictObject({ remote: z.url({ protocol: /^(?:https|ssh|file)$/ }).max(1024) }),
  ]),
  // Where producers push is no place to land: a push would be the landing.
  baseBranch: branch
    .refine((name) => !/^portcullis(?:-docs)?(?:\/|$)/.test(name), 'is a branch of producers')
    .default('main'),
  segmentsHint: z.int().min(1).max(SEGMENT_LIMIT).nullable().default(null),
  // A merge without a check would rest on nothing that was run.
  checks: set(check, (entry) => entry.check, 16).min(1),
  criteria: set(criterion, (entry) => entry.id, 64).min(1),
  risk: z.enum(RISK_CLASSES).default('moderate'),
  ttlSeconds: z.partialRecord(z.enum(WORKSPACE_ROLES), ttl).default({}),
  documentation: z.boolean().default(true),
}) satisfies z.ZodType<TicketDefinition>;
