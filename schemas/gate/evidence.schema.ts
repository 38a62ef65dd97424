/** Evidence records from the store or from a file: strict, and each with the rules that tie its own fields together. */
import { z } from 'zod';
import { WORKING_DIRECTORIES } from '../verify/request.ts';
import type { CheckDefinition } from './check.ts';
import type { EvidenceRecord } from './evidence-set.ts';
import {
  code,
  contentDigest,
  count,
  digest,
  evidenceRef,
  evidenceRefs,
  head,
  id,
  list,
  name,
  path,
  principal,
  prose,
  readWith,
  revision,
  set,
  time,
} from './fields.schema.ts';
import {
  ATTESTATIONS,
  CAUSALITIES,
  CRITERION_STATUSES,
  FINDING_DISPOSITIONS,
  FINDING_TYPES,
  GATE_KINDS,
  HUMAN_ANSWERS,
  METHODS,
  OVERRIDABLE_CASES,
  SEVERITIES,
  STANDINGS,
  UNAVAILABLE_REASONS,
} from './vocabulary.ts';

const binding = {
  tenant: name,
  checkId: id,
  definitionDigest: digest('definition'),
  head,
  executionId: name,
  executionGeneration: revision,
  attempt: revision,
};

export const checkAttemptSchema = z.strictObject({
  schema: z.literal('portcullis/check-attempt/v1'),
  ...binding,
  openedAt: time,
});

const counts = z
  .strictObject({
    executed: count,
    passed: count,
    failed: count,
    skipped: count,
    provenance: z.enum(['reporter_file', 'stdout']),
  })
  .refine((of) => of.passed + of.failed <= of.executed, 'passed and failed are more than executed');

export const checkResultSchema = z
  .strictObject({
    schema: z.literal('portcullis/check-result/v1'),
    ...binding,
    status: z.enum(CRITERION_STATUSES),
    unavailable: z.enum(UNAVAILABLE_REASONS).nullable(),
    counts: counts.nullable(),
    refs: evidenceRefs,
    attestation: z.enum(ATTESTATIONS),
    observedAt: time,
    executor: z.strictObject({ role: id, workspace: id, generation: revision }).nullable(),
    toolchain: contentDigest.nullable(),
    definitions: set(
      z.strictObject({ path, baseDigest: contentDigest.nullable(), headDigest: contentDigest.nullable() }),
      (file) => file.path,
    ),
  })
  .refine((result) => result.unavailable === null || result.status === 'inconclusive', {
    path: ['unavailable'],
    error: 'goes with inconclusive only',
  });

const row = z
  .strictObject({
    criterionId: id,
    status: z.enum(CRITERION_STATUSES),
    method: z.enum(METHODS),
    evidenceRefs,
    reasonCode: code,
  })
  .refine((of) => of.status !== 'passed' || of.evidenceRefs.length > 0, {
    path: ['evidenceRefs'],
    error: 'is empty on a passed row',
  });

const runtime = z.strictObject({ provider: id, model: id, configRevision: id, receiptId: id });

export const verificationRunSchema = z.strictObject({
  schema: z.literal('portcullis/verification-run/v1'),
  tenant: name,
  runId: id,
  subjectDigest: digest('subject'),
  executionId: name,
  executionGeneration: revision,
  requestDigest: digest('request'),
  verifier: z.strictObject({ principal, class: id }),
  runtime: runtime.nullable(),
  grant: z.strictObject({ id, revision }),
  contextManifestDigest: digest('context-manifest').nullable(),
  outcome: z.discriminatedUnion('state', [
    z.strictObject({ state: z.literal('finished'), rows: set(row, (of) => of.criterionId) }),
    z.strictObject({ state: z.literal('unavailable'), reason: z.enum(UNAVAILABLE_REASONS) }),
    z.strictObject({ state: z.literal('refused'), code }),
  ]),
  observedAt: time,
});

const lines = z
  .strictObject({ resourceId: id, path, fromLine: revision, toLine: revision, digest: contentDigest })
  .refine((range) => range.fromLine <= range.toLine, 'ends before it begins');

export const findingSchema = z
  .strictObject({
    schema: z.literal('portcullis/finding/v1'),
    tenant: name,
    findingId: id,
    version: revision,
    subjectDigest: digest('subject'),
    runId: id,
    criterionId: id.nullable(),
    securityRequirementRevision: count.nullable(),
    type: z.enum(FINDING_TYPES),
    severity: z.enum(SEVERITIES),
    standing: z.enum(STANDINGS),
    causality: z.enum(CAUSALITIES),
    location: lines.nullable(),
    changedRange: lines.nullable(),
    failureScenario: prose,
    requiredFix: prose,
    evidenceRefs,
    method: z.enum(METHODS),
    verifierRuntime: runtime.nullable(),
    contextManifestDigest: digest('context-manifest').nullable(),
    confidence: z.int().min(0).max(100).nullable(),
    lineage: z.strictObject({ priorFindingId: id }).nullable(),
    observedAt: time,
  })
  .refine((finding) => finding.standing !== 'blocking' || finding.causality !== 'pre_existing', {
    path: ['standing'],
    error: 'cannot be blocking for something that was there before',
  })
  .refine(
    (finding) =>
      finding.standing !== 'blocking' ||
      finding.changedRange !== null ||
      finding.criterionId !== null ||
      finding.securityRequirementRevision !== null,
    { path: ['standing'], error: 'is blocking and cites neither a changed range, a criterion nor a requirement' },
  );

export const dispositionSchema = z
  .strictObject({
    schema: z.literal('portcullis/disposition/v1'),
    tenant: name,
    dispositionId: id,
    findingId: id,
    findingDigest: digest('finding'),
    onSubjectDigest: digest('subject'),
    runId: id,
    disposition: z.enum(FINDING_DISPOSITIONS),
    evidenceRefs,
    reasonCode: code,
    supersededBy: id.nullable(),
    observedAt: time,
  })
  .refine((of) => (of.supersededBy !== null) === (of.disposition === 'superseded_by_subject_change'), {
    path: ['supersededBy'],
    error: 'goes with superseded_by_subject_change and with nothing else',
  });

export const humanDecisionSchema = z
  .strictObject({
    schema: z.literal('portcullis/human-decision/v1'),
    tenant: name,
    decisionId: id,
    subjectDigest: digest('subject'),
    gate: z.enum(GATE_KINDS),
    policyRevision: revision,
    principal,
    role: id,
    decision: z.enum(HUMAN_ANSWERS),
    case: z.enum(OVERRIDABLE_CASES).nullable(),
    reason: evidenceRef,
    selfReview: z.boolean(),
    expiresAt: time.nullable(),
    observedAt: time,
  })
  .refine((of) => (of.case !== null) === (of.decision === 'override'), {
    path: ['case'],
    error: 'goes with an override and with nothing else',
  });

export const evidenceRecordSchema: z.ZodType<EvidenceRecord> = z.discriminatedUnion('schema', [
  checkAttemptSchema,
  checkResultSchema,
  verificationRunSchema,
  findingSchema,
  dispositionSchema,
  humanDecisionSchema,
]);

/** @throws `schema_invalid` */
export function readEvidenceRecord(value: unknown): EvidenceRecord {
  return readWith(evidenceRecordSchema, value, 'evidence');
}

const argument = z.string().min(1).max(256);

export const checkDefinitionSchema: z.ZodType<CheckDefinition> = z.discriminatedUnion('kind', [
  z.strictObject({
    schema: z.literal('portcullis/check-definition/v1'),
    kind: z.literal('command'),
    template: id,
    argv: list(argument, 32).min(1),
    cwd: z.enum(WORKING_DIRECTORIES),
    expectExitCode: z.int().min(0).max(255),
    timeoutSecs: z.int().min(1).max(3600),
    artifacts: list(path, 32),
  }),
  z.strictObject({
    schema: z.literal('portcullis/check-definition/v1'),
    kind: z.literal('builtin'),
    name: id,
    version: revision,
  }),
]);
