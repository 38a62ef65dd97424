/** Stored heads, index entries and decisions of the gate. */
import { z } from 'zod';
import type { SignedGateDecision } from '../../../schemas/gate/decision.ts';
import type {
  IndexEntry,
  PolicyHead,
  RevocationRecord,
  SubjectHead,
  TicketEntry,
} from '../../../schemas/gate/heads.ts';
import { REASON_LIMIT, type ReasonRecord } from '../../../schemas/gate/human.ts';
import { contentDigest, definitionRef, policyRef } from '../../../schemas/gate/fields.schema.ts';
import { gateDecisionSchema } from '../../../schemas/gate/request.schema.ts';
import { GATE_KINDS } from '../../../schemas/gate/vocabulary.ts';
import { EVIDENCE_FAMILIES } from '../../../schemas/keys.ts';
import { count, recordDigest } from './fields.ts';

const gate = z.enum(GATE_KINDS);

export const indexEntryRecord: z.ZodType<IndexEntry> = z.strictObject({
  schema: z.literal('portcullis/index-entry/v1'),
  family: z.enum(EVIDENCE_FAMILIES),
  digest: contentDigest,
  name: z.string(),
  attempt: count.nullable(),
});

export const ticketEntryRecord: z.ZodType<TicketEntry> = z.strictObject({
  schema: z.literal('portcullis/ticket-entry/v1'),
  gate,
  subjectDigest: recordDigest('subject'),
});

export const reasonRecord: z.ZodType<ReasonRecord> = z.strictObject({
  schema: z.literal('portcullis/reason/v1'),
  text: z.string().min(1).max(REASON_LIMIT),
});

export const subjectHeadRecord: z.ZodType<SubjectHead> = z.strictObject({
  schema: z.literal('portcullis/subject-head/v1'),
  gate,
  subjectDigest: recordDigest('subject'),
  executionId: z.string(),
  executionGeneration: count,
  stateRevision: count,
});

export const policyHeadRecord: z.ZodType<PolicyHead> = z.strictObject({
  schema: z.literal('portcullis/policy-head/v1'),
  gate,
  policy: policyRef,
  definition: definitionRef,
});

export const revocationRecord: z.ZodType<RevocationRecord> = z.strictObject({
  schema: z.literal('portcullis/revocation/v1'),
  authority: z.string(),
  by: z.string(),
});

export const signedDecisionRecord: z.ZodType<SignedGateDecision> = z.strictObject({
  decision: gateDecisionSchema,
  digest: recordDigest('decision'),
  signature: z.string(),
  keyId: z.string(),
});
