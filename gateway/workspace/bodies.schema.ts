/** Bodies of the workspace API (schemas/workspace-api.ts), checked. */
import { z } from 'zod';
import { NAME_PATTERN } from '../../schemas/names.ts';
import type { ClaimExchange, ExecutorRegistration, RunStarted } from '../../schemas/workspace-api.ts';

/** Random and unguessable, or a UUID; it only has to differ from the last one. */
const bootId = z.string().regex(/^[A-Za-z0-9_-]{8,64}$/, 'must be 8 to 64 letters, digits, - or _');

export const claimExchangeSchema: z.ZodType<ClaimExchange> = z.strictObject({
  tenant: z.string().regex(NAME_PATTERN, 'is not a tenant'),
  code: z.string().regex(/^[A-Za-z0-9_-]{16,256}$/, 'is not a claim code'),
});

export const executorRegistrationSchema: z.ZodType<ExecutorRegistration> = z.strictObject({ bootId });

export const runStartedSchema: z.ZodType<RunStarted> = z.strictObject({
  bootId,
  workflowId: z.string().min(1).max(512),
});
