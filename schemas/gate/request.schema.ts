/** Verification requests, grants, receipts, context manifests and decisions, read strictly. */
import { z } from 'zod';
import type { ContextManifest } from './context.ts';
import type { GateDecision } from './decision.ts';
import {
  code,
  contentDigest,
  count,
  definitionRef,
  digest,
  id,
  list,
  methods,
  name,
  policyRef,
  principal,
  readWith,
  revision,
  set,
  time,
} from './fields.schema.ts';
import type { Grant, Receipt, VerificationRequest } from './request.ts';
import { GATE_CASES, GATE_DECISIONS, GATE_KINDS } from './vocabulary.ts';

export const verificationRequestSchema: z.ZodType<VerificationRequest> = z.strictObject({
  schema: z.literal('portcullis/verification-request/v1'),
  tenant: name,
  subjectDigest: digest('subject'),
  verifier: z.strictObject({ principal, class: id }),
  methods: methods.min(1),
  rules: z.strictObject({ id, revision, digest: contentDigest }),
  budget: z.strictObject({ tokens: count, costMicros: count, wallSeconds: count }),
  modelTier: id,
  grantId: id,
  priorBlockers: set(id, (of) => of),
});

export const grantSchema: z.ZodType<Grant> = z.strictObject({
  schema: z.literal('portcullis/grant/v1'),
  tenant: name,
  id,
  revision,
  principal,
  resources: set(z.strictObject({ id, version: id, mode: z.literal('read') }), (resource) => resource.id),
  appendTo: id,
  expiresAt: time,
  generation: revision,
  revokedAt: time.nullable(),
});

const model = { provider: id, model: id, configRevision: id };
const spent = z.strictObject({ tokens: count, costMicros: count });

export const receiptSchema: z.ZodType<Receipt> = z.strictObject({
  schema: z.literal('portcullis/receipt/v1'),
  tenant: name,
  receiptId: id,
  requestDigest: digest('request'),
  runId: id,
  routePolicyRevision: revision,
  candidates: list(z.strictObject({ ...model, excludedBy: code.nullable() }), 64),
  chosen: z.strictObject(model).nullable(),
  reserved: spent,
  used: spent.nullable(),
  outcome: z.enum(['served', 'refused', 'timeout', 'exhausted', 'transport_error']),
  startedAt: time,
  endedAt: time.nullable(),
});

export const contextManifestSchema: z.ZodType<ContextManifest> = z.strictObject({
  schema: z.literal('portcullis/context-manifest/v1'),
  tenant: name,
  subjectDigest: digest('subject'),
  requestDigest: digest('request'),
  constructionPolicyRevision: revision,
  budgetTokens: count,
  included: set(
    z.strictObject({ id, version: id, digest: contentDigest, classification: id, tokens: count }),
    (source) => source.id,
    1024,
  ),
  excluded: set(
    z.strictObject({
      id,
      reason: z.enum(['budget', 'classification', 'not_granted', 'producer_transcript']),
      required: z.boolean(),
    }),
    (source) => source.id,
    1024,
  ),
  priorBlockers: set(z.strictObject({ findingId: id, digest: digest('finding') }), (blocker) => blocker.findingId),
});

export const gateDecisionSchema: z.ZodType<GateDecision> = z.strictObject({
  schema: z.literal('portcullis/gate-decision/v1'),
  tenant: name,
  gate: z.enum(GATE_KINDS),
  subjectDigest: digest('subject'),
  executionId: name,
  executionGeneration: revision,
  evidenceSetDigest: digest('evidence-set'),
  policy: policyRef,
  definition: definitionRef,
  evaluatorVersion: id,
  evaluationKey: digest('gate-evaluation'),
  decision: z.enum(GATE_DECISIONS),
  reasons: list(
    z.strictObject({ case: z.enum(GATE_CASES), code, ref: z.string().max(200), overridden: z.boolean() }),
    1000,
  ),
  reasonsOmitted: count,
  asOf: time,
  validUntil: time.nullable(),
  authorities: list(z.string().max(200), 2000),
  indexes: list(z.strictObject({ index: z.string().max(512), length: count }), 1024),
});

/** @throws `schema_invalid` */
export function readGateDecision(value: unknown): GateDecision {
  return readWith(gateDecisionSchema, value, 'decision');
}
