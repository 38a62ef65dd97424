/** The shape of the file that `egress.models` names, checked at the edge: strict, so a misspelt bound is refused. */
import { z } from 'zod';
import { MODEL_APIS } from '../../schemas/model-route.ts';

const named = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/);

export const modelHostsDocument = z.strictObject({
  schema: z.literal('portcullis/model-hosts/v1'),
  hosts: z
    .array(
      z.strictObject({
        name: named,
        url: z.string().max(2048),
        apis: z.array(z.enum(MODEL_APIS)).min(1),
        auth: z.enum(['x-api-key', 'bearer', 'none']),
        key_file: z.string().min(1).max(4096).optional(),
        models: z.array(z.string().min(1).max(256)).min(1).optional(),
        hosted_tools: z.boolean().optional(),
      }),
    )
    .min(1)
    .max(64),
});
