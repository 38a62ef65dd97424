/** The file that `portcullis gate eval` reads: one evaluation with everything inline (spec/cli.md). */
import { z } from 'zod';
import { evidenceRecordSchema } from './evidence.schema.ts';
import { contentDigest, prose, readWith } from './fields.schema.ts';
import { gateDefinitionSchema, gatePolicySchema } from './policy.schema.ts';
import { subjectSchema } from './subject.schema.ts';

/** A record as an index names it. What was found under that digest may be something else, or nothing (`null`). */
const indexed = z.strictObject({ digest: contentDigest, record: z.json() });

/** Only the frame: what is in it is read field by field, so that an error names the record and the field. */
const frame = z.strictObject({
  note: prose.optional(),
  subject: z.json(),
  evidence: z.array(z.json()),
  policy: z.json(),
  definition: z.json(),
  asOf: z.iso.datetime(),
});

export type GateRequestFrame = z.infer<typeof frame>;

/** @throws `schema_invalid` */
export function readGateRequestFrame(value: unknown): GateRequestFrame {
  return readWith(frame, value, 'request');
}

/** `null` for a bare record. @throws `schema_invalid` */
export function readIndexedRecord(value: unknown, what: string): z.infer<typeof indexed> | null {
  return typeof value === 'object' && value !== null && 'record' in value ? readWith(indexed, value, what) : null;
}

/** The whole file in one schema, for `docs/reference/schemas`. */
export const gateRequestSchema = z.strictObject({
  note: prose.optional(),
  subject: subjectSchema,
  evidence: z.array(z.union([evidenceRecordSchema, indexed])),
  policy: gatePolicySchema,
  definition: gateDefinitionSchema,
  asOf: z.iso.datetime(),
});
