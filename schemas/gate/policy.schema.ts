/** Gate policies and definitions as documents: every key mandatory, no other key, closed words. */
import { z } from 'zod';
import { count, digest, id, policyRef, readWith, revision, set } from './fields.schema.ts';
import { DOUBT_OUTCOMES, FAILURE_OUTCOMES, type GateDefinition, type GatePolicy } from './policy.ts';
import { ATTESTATIONS, GATE_KINDS, OVERRIDABLE_CASES, RISK_CLASSES } from './vocabulary.ts';

/** Of one kind, at most: more is a mistake. */
const seats = z.int().min(1).max(16);

const checkRule = z.strictObject({
  checkId: id,
  class: z.enum(['ordinary', 'security']),
  definitionDigestIn: set(digest('definition'), (of) => of).min(1, 'accepts no definition at all'),
  attestation: z.enum(ATTESTATIONS),
  minExecuted: count,
  maxSkipped: count,
  definitionsUnchanged: z.boolean(),
  maxUnanswered: z.int().min(0).max(16),
});
const verifierRule = z.strictObject({ class: id, min: seats });
const humanRule = z.strictObject({ role: id, min: seats, selfReview: z.boolean() });

const checks = set(checkRule, (rule) => rule.checkId, 64);
const verifierClasses = set(verifierRule, (rule) => rule.class, 16);
const humans = set(humanRule, (rule) => rule.role, 16);

const failure = z.enum(FAILURE_OUTCOMES);
const doubt = z.enum(DOUBT_OUTCOMES);

export const gatePolicySchema: z.ZodType<GatePolicy> = z.strictObject({
  schema: z.literal('portcullis/gate-policy/v1'),
  id,
  revision,
  requiredChecks: checks.min(1, 'requires no check at all'),
  requiredCriteria: z.enum(['manifest', 'all']),
  verifierClasses: verifierClasses.min(1, 'requires no verifier at all'),
  humans,
  riskRules: set(
    z.strictObject({ class: z.enum(RISK_CLASSES), requiredChecks: checks, verifierClasses, humans }),
    (rule) => rule.class,
  ),
  mapping: z.strictObject({
    hardFailure: failure,
    securityFailure: failure,
    contradiction: doubt,
    unstable: doubt,
    inconclusive: doubt,
    notTested: doubt,
    unavailable: doubt,
    definitionChanged: failure,
  }),
  overrides: set(z.strictObject({ case: z.enum(OVERRIDABLE_CASES), role: id, min: seats }), (rule) => rule.case),
  reuse: z.literal('none'),
});

export const gateDefinitionSchema: z.ZodType<GateDefinition> = z.strictObject({
  schema: z.literal('portcullis/gate-definition/v1'),
  id,
  revision,
  gate: z.enum(GATE_KINDS),
  policy: policyRef,
  evaluatorVersion: id,
});

/** The shape alone; what a policy may not say is `policies/gates/register.ts`. @throws `schema_invalid` */
export function readGatePolicy(value: unknown): GatePolicy {
  return readWith(gatePolicySchema, value, 'policy');
}

/** @throws `schema_invalid` */
export function readGateDefinition(value: unknown): GateDefinition {
  return readWith(gateDefinitionSchema, value, 'definition');
}
