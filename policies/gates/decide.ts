/** From an evaluation to the record of it. Signing it and writing it once is the gate worker's. */
import {
  decisionDigest,
  evaluationKey,
  REASON_LIMIT,
  type EvaluationInputs,
  type GateDecision,
  type IndexLength,
} from '../../schemas/gate/decision.ts';
import { compareCodeUnits, type Digest } from '../../schemas/digest.ts';
import { evaluateGate } from './evaluate.ts';
import { EVALUATOR_VERSION, type GateInput } from './input.ts';

export interface DecidedGate {
  readonly decision: GateDecision;
  readonly digest: Digest<'decision'>;
}

/** Everything `evaluationKey` is over. Known as soon as the evidence set is assembled; `asOf` is not part of it. */
export function evaluationInputs(input: GateInput): EvaluationInputs {
  return {
    subject: input.subject.digest,
    evidenceSet: input.evidence.digest,
    policy: input.policy.digest,
    definition: input.definition.digest,
    evaluatorVersion: EVALUATOR_VERSION,
  };
}

/**
 * Evaluates and makes the record.
 * @param indexes how far each index had grown when the evidence was read; empty for an evaluation outside the store
 */
export function decideGate(input: GateInput, indexes: readonly IndexLength[]): DecidedGate {
  const { decision, reasons, validUntil, authorities } = evaluateGate(input);
  const { subject, policy, definition } = input;
  const record: GateDecision = {
    schema: 'portcullis/gate-decision/v1',
    tenant: subject.record.tenant,
    gate: definition.record.gate,
    subjectDigest: subject.digest,
    executionId: subject.record.executionId,
    executionGeneration: subject.record.executionGeneration,
    evidenceSetDigest: input.evidence.digest,
    policy: { id: policy.record.id, revision: policy.record.revision, digest: policy.digest },
    definition: { id: definition.record.id, revision: definition.record.revision, digest: definition.digest },
    evaluatorVersion: EVALUATOR_VERSION,
    evaluationKey: evaluationKey(evaluationInputs(input)),
    decision,
    reasons: reasons.slice(0, REASON_LIMIT),
    reasonsOmitted: Math.max(0, reasons.length - REASON_LIMIT),
    asOf: input.asOf,
    validUntil,
    authorities,
    indexes: indexes.toSorted((a, b) => compareCodeUnits(a.index, b.index)),
  };
  return { decision: record, digest: decisionDigest(record) };
}
