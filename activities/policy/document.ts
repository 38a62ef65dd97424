/** The shape of a command policy document, checked at the edge: strict, so an unknown key (a `prefix`, say) is refused. */
import { z } from 'zod';
import { COUNT_PARSERS } from '../../schemas/verify/action.ts';
import { REGISTRIES } from '../../schemas/egress.ts';
import { PREPARE_TOOLS } from '../../schemas/verify/prepare.ts';
import { WORKING_DIRECTORIES } from '../../schemas/verify/request.ts';
import type { CommandPolicy } from '../../policies/commands/types.ts';

const positive = z.int().min(1);
const token = z.union([z.string().min(1).max(256), z.strictObject({ slot: z.string().regex(/^[a-z][a-z_]{0,31}$/) })]);
const environment = z.record(z.string(), z.string().max(512));

const template = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/),
  argv: z.array(token).min(1).max(32),
  executes: z.array(token).min(1).max(32),
  slots: z.record(z.string(), z.strictObject({ pattern: z.string().max(512), maxLength: positive })),
  cwd: z.array(z.enum(WORKING_DIRECTORIES)),
  exitCodes: z.array(z.int().min(0).max(255)),
  maxTimeoutSecs: positive,
  environment,
  counts: z
    .strictObject({ parser: z.enum(COUNT_PARSERS), minExecuted: z.int().min(0), maxSkipped: z.int().min(0) })
    .nullable(),
  prepare: z.string().max(64).nullable(),
  definitionFiles: z.array(z.string().min(1).max(256)),
});

const preparation = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/),
  tool: z.enum(PREPARE_TOOLS),
  commands: z
    .array(z.array(z.string().min(1).max(256)).min(1).max(32))
    .min(1)
    .max(8),
  lockfiles: z.array(z.string().min(1).max(256)).min(1).max(16),
  registries: z.array(z.enum(REGISTRIES)).max(REGISTRIES.length),
  timeoutSecs: positive,
  installScripts: z.boolean(),
  maxBytes: positive,
  environment,
  provides: environment,
});

export const commandPolicyDocument = z.strictObject({
  schema: z.literal('portcullis/command-policy/v1'),
  id: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/),
  revision: positive,
  tools: z.array(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/)),
  environment,
  limits: z.strictObject({
    processes: positive,
    dataBytes: positive,
    memoryBytes: positive,
    fileBytes: positive,
    workBytes: positive,
    files: positive,
    openFiles: positive,
    tmpBytes: positive,
    outputBytes: positive,
  }),
  preparations: z.array(preparation).max(64),
  templates: z.array(template),
}) satisfies z.ZodType<CommandPolicy>;
