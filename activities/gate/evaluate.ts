/**
 * Decides about a subject: reads every record again, evaluates, signs, writes once (spec/gate.md section 5). However many do it
 * at once, and however often it is retried, one record comes of it.
 */
import { portcullisError } from '../../schemas/errors.ts';
import type { EvaluatedSubject, EvaluationRequest } from '../../schemas/gate/activities.ts';
import type { SignedGateDecision } from '../../schemas/gate/decision.ts';
import { OUTCOME_REASONS } from '../../schemas/gate/workflow.ts';
import { decideGate } from '../../policies/gates/decide.ts';
import type { GateInput } from '../../policies/gates/input.ts';
import { openFindings } from '../../policies/gates/open-findings.ts';
import { auditWriter } from '../audit/write.ts';
import { verifyingKeyOf, type SigningKey } from '../signing/keys.ts';
import type { DecisionStore } from '../store/gate-port.ts';
import { anchorAudit, type AuditReader } from './anchor.ts';
import { assembleEvidence, readJudged } from './assemble.ts';
import { isGenuine, signDecision } from './signed-decision.ts';

/** What the gate worker's activities need; given once when it starts. */
export interface GateDependencies {
  readonly store: DecisionStore;
  readonly chain: AuditReader;
  /** Signs decisions, audit entries and anchors. */
  readonly key: SigningKey;
}

/** @throws see `GateActivities.evaluateSubject` */
export async function evaluateSubject(needs: GateDependencies, request: EvaluationRequest): Promise<EvaluatedSubject> {
  const { store, key, chain } = needs;
  const { tenant, kind, subjectDigest } = request;
  // First of all: what is refused below was asked for too.
  await store.appendAuditOnce(tenant, requestedEntry(needs, request));
  const stopped = await store.readKillSwitch(tenant);
  if (stopped !== null) throw portcullisError('kill_switch', { reason: stopped.reason });
  const judged = await readJudged(store, tenant, subjectDigest);
  if (judged.definition.record.gate !== kind) {
    const reason = `is of the gate ${judged.definition.record.gate}`;
    throw portcullisError('schema_invalid', { path: 'subject', reason });
  }
  const { set, indexes } = await assembleEvidence(store, tenant, judged.subject);
  const input: GateInput = { ...judged, evidence: set, asOf: await store.now() };
  const mine = signDecision(decideGate(input, indexes), key);
  const written = await store.writeDecision(mine, decidedEntry(needs, mine));
  switch (written.kind) {
    case 'kill_switch':
      throw portcullisError('kill_switch', { reason: written.reason });
    case 'written':
    case 'exists': {
      const kept = await converge(needs, input, mine);
      return { ...outcomeOf(kept), anchor: await anchorAudit(chain, key, tenant) };
    }
  }
}

/** The decision that is there, after it was compared with ours at its own `asOf`: later callers differ in nothing else. */
async function converge(
  needs: GateDependencies,
  input: GateInput,
  mine: SignedGateDecision,
): Promise<SignedGateDecision> {
  const { store, key } = needs;
  const { tenant, evaluationKey } = mine.decision;
  const kept = await store.readDecision(tenant, evaluationKey);
  if (kept === null) throw portcullisError('store_unavailable', { reason: 'what was written does not read back' });
  if (kept.digest === mine.digest && kept.signature === mine.signature) return kept;
  const genuine = isGenuine(kept, [verifyingKeyOf(key)]);
  const again = signDecision(
    genuine ? decideGate({ ...input, asOf: kept.decision.asOf }, kept.decision.indexes) : mine,
    key,
  );
  if (genuine && again.digest === kept.digest) return kept;
  // Nothing is overwritten: both stay on record, and the decision counts as contradicted from now on.
  await store.writeContradiction(again, incidentEntry(needs, again, kept));
  if (!genuine) throw portcullisError('signature_invalid', { what: `the decision ${evaluationKey}` });
  return kept;
}

function outcomeOf({ decision, digest }: SignedGateDecision): Omit<EvaluatedSubject, 'anchor'> {
  const reasons = decision.reasons.slice(0, OUTCOME_REASONS);
  return {
    evaluationKey: decision.evaluationKey,
    decisionDigest: digest,
    decision: decision.decision,
    reasons,
    reasonsOmitted: decision.reasonsOmitted + decision.reasons.length - reasons.length,
    openFindings: openFindings(decision.reasons),
  };
}

function requestedEntry({ key }: GateDependencies, { tenant, kind, subjectDigest, n }: EvaluationRequest) {
  const refs = { ticketGate: kind, subject: subjectDigest, evaluation: String(n) };
  return auditWriter(tenant, key, 'evaluation_requested', refs, 'gate');
}

function decidedEntry({ key }: GateDependencies, { decision, digest }: SignedGateDecision) {
  const refs = {
    ticketGate: decision.gate,
    subject: decision.subjectDigest,
    evidenceSet: decision.evidenceSetDigest,
    policy: decision.policy.digest,
    evaluation: decision.evaluationKey,
    decision: digest,
    word: decision.decision,
  };
  return auditWriter(decision.tenant, key, 'decided', refs, 'gate');
}

function incidentEntry({ key }: GateDependencies, ours: SignedGateDecision, kept: SignedGateDecision) {
  const refs = { evaluation: ours.decision.evaluationKey, ours: ours.digest, kept: kept.digest };
  return auditWriter(ours.decision.tenant, key, 'incident_opened', { kind: 'contradiction', ...refs }, 'gate');
}
