/** Subjects from outside: strict, at most 256 members a list, each set without repeats. */
import { z } from 'zod';
import {
  contentDigest,
  count,
  definitionRef,
  digest,
  head,
  id,
  methods,
  name,
  policyRef,
  principal,
  readWith,
  revision,
  set,
} from './fields.schema.ts';
import type { SubjectManifest } from './subject.ts';
import { RISK_CLASSES } from './vocabulary.ts';

const criterion = z.strictObject({
  criterionId: id,
  revision,
  required: z.boolean(),
  methods: methods.min(1),
});

const check = z
  .strictObject({
    checkId: id,
    definitionDigest: digest('definition'),
    timeSensitive: z.boolean(),
    horizonSeconds: z.int().min(1).max(31_536_000).nullable(),
  })
  .refine((of) => of.timeSensitive === (of.horizonSeconds !== null), 'has a horizon exactly when it is time-sensitive');

const resource = z.strictObject({
  resourceId: id,
  kind: id,
  bindingRevision: revision,
  classification: id,
  version: id,
  digest: contentDigest,
});

const artifact = z.strictObject({
  artifactId: id,
  revision,
  mediaType: id,
  digest: contentDigest,
  size: count,
});

export const subjectSchema: z.ZodType<SubjectManifest> = z.strictObject({
  schema: z.literal('portcullis/subject/v1'),
  tenant: name,
  missionId: name,
  executionId: name,
  executionGeneration: revision,
  stateRevision: count,
  workPackage: z.strictObject({ id, revision }).nullable(),
  operation: z.strictObject({ id, version: id }).nullable(),
  producer: z.strictObject({ principal, runId: id, resultId: id, resultDigest: contentDigest }),
  objective: z.strictObject({ revision, digest: contentDigest }),
  criteria: z.strictObject({
    revision,
    digest: contentDigest,
    items: set(criterion, (item) => item.criterionId).min(1, 'needs at least one criterion'),
  }),
  resources: set(resource, (of) => of.resourceId),
  artifacts: set(artifact, (of) => of.artifactId),
  change: z.strictObject({ baseDigest: head.nullable(), headDigest: head, diffDigest: contentDigest }).nullable(),
  requiredChecks: set(check, (of) => of.checkId),
  gatePolicy: policyRef,
  gateDefinition: definitionRef,
  workflowRevision: id,
  workforceRevision: contentDigest,
  risk: z.strictObject({ class: z.enum(RISK_CLASSES), securityRequirementRevision: count }),
  priorBlockers: set(z.strictObject({ findingId: id, digest: digest('finding') }), (blocker) => blocker.findingId),
  requestSchemaVersion: revision,
});

/** @throws `schema_invalid` */
export function readSubject(value: unknown): SubjectManifest {
  return readWith(subjectSchema, value, 'subject');
}
