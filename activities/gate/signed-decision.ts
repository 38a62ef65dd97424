/** Signs a decision at the gate worker and verifies it wherever one is relied on. */
import { PortcullisError } from '../../schemas/errors.ts';
import { decisionDigest, evaluationKey, type SignedGateDecision } from '../../schemas/gate/decision.ts';
import type { DecidedGate } from '../../policies/gates/decide.ts';
import { signText, verifyText, type SigningKey, type VerifyingKey } from '../signing/keys.ts';

export function signDecision({ decision, digest }: DecidedGate, key: SigningKey): SignedGateDecision {
  return { decision, digest, signature: signText(key, digest), keyId: key.keyId };
}

/**
 * True when one of these keys signed exactly this decision, and its evaluation key is the one that its own fields give: a
 * decision cannot be moved to another subject, evidence set or policy.
 */
export function isGenuine(signed: SignedGateDecision, keys: readonly VerifyingKey[]): boolean {
  const { decision, digest, signature, keyId } = signed;
  const key = keys.find((known) => known.keyId === keyId);
  return key !== undefined && digestsMatch(signed) && decision.evaluationKey === keyOf(signed)
    ? verifyText(key, digest, signature)
    : false;
}

function keyOf({ decision }: SignedGateDecision): string {
  return evaluationKey({
    subject: decision.subjectDigest,
    evidenceSet: decision.evidenceSetDigest,
    policy: decision.policy.digest,
    definition: decision.definition.digest,
    evaluatorVersion: decision.evaluatorVersion,
  });
}

function digestsMatch({ decision, digest }: SignedGateDecision): boolean {
  try {
    return decisionDigest(decision) === digest;
  } catch (thrown) {
    // No canonical bytes: nobody can have signed it.
    if (thrown instanceof PortcullisError) return false;
    throw thrown;
  }
}
