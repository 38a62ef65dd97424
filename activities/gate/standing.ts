/** Whether a decision counts now: everything it rests on is read again (spec/gate.md section 5). Any user of the store may ask. */
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import type { DecisionRef, DecisionStanding } from '../../schemas/gate/activities.ts';
import type { GateDecision, SignedGateDecision } from '../../schemas/gate/decision.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';
import { applicabilityOf, authorises, type CurrentHeads } from '../../policies/gates/applicability.ts';
import type { VerifyingKey } from '../signing/keys.ts';
import type { GateReader } from '../store/gate-port.ts';
import { assembleEvidence, laterItems } from './assemble.ts';
import { isGenuine } from './signed-decision.ts';

/** The public keys whose decisions count. */
export type GateKeys = () => Promise<readonly VerifyingKey[]>;

/** @throws `not_found`, `record_unreadable` for a decision that cannot be read, `store_unavailable` */
export async function decisionStanding(
  reader: GateReader,
  gateKeys: GateKeys,
  { tenant, evaluationKey }: DecisionRef,
): Promise<DecisionStanding> {
  // Before anything else is read: a change during this look shows as a higher epoch later.
  const epoch = await reader.readEpoch(tenant);
  const signed = await reader.readDecision(tenant, evaluationKey);
  if (signed === null) throw portcullisError('not_found', { what: 'decision', id: evaluationKey });
  const { decision, digest } = signed;
  const subject = await unlessUnreadable(reader.readSubject(tenant, decision.subjectDigest));
  const intact =
    decision.evaluationKey === evaluationKey &&
    decision.tenant === tenant &&
    isGenuine(signed, await gateKeys()) &&
    subject !== null &&
    (await isIntact(reader, signed, subject));
  const [heads, revoked, disagreement, lengths, later, now] = await Promise.all([
    currentHeads(reader, decision, subject),
    reader.readRevoked(tenant, decision.authorities),
    reader.isContradicted(tenant, evaluationKey),
    Promise.all(
      decision.indexes.map(async ({ index }) => ({ index, length: await reader.indexLength(tenant, index) })),
    ),
    Promise.all(decision.indexes.map((index) => laterItems(reader, tenant, index))),
    reader.now(),
  ]);
  const view = applicabilityOf(decision, {
    heads,
    revoked,
    disagreement,
    intact,
    indexes: lengths,
    later: later.flat(),
    now,
  });
  return {
    evaluationKey,
    decisionDigest: digest,
    decision: decision.decision,
    gate: decision.gate,
    subjectDigest: decision.subjectDigest,
    applicability: view.applicability,
    moved: view.moved,
    authorises: authorises(decision, view),
    at: now,
    validUntil: decision.validUntil,
    epoch,
  };
}

async function currentHeads(
  reader: GateReader,
  { tenant, gate }: GateDecision,
  subject: SubjectManifest | null,
): Promise<CurrentHeads> {
  const ticket = subject?.missionId ?? null;
  const [pair, newest, policy] = await Promise.all([
    ticket === null ? null : reader.readHead(tenant, ticket),
    ticket === null ? null : reader.readSubjectHead(tenant, ticket, gate),
    reader.readPolicyHead(tenant, gate),
  ]);
  return {
    subjectDigest: newest?.subjectDigest ?? null,
    executionId: pair?.execution ?? null,
    executionGeneration: pair?.generation ?? null,
    policyDigest: policy?.policy.digest ?? null,
    definitionDigest: policy?.definition.digest ?? null,
  };
}

/** The evidence that was judged is read again to the recorded lengths, and so are policy and definition. */
async function isIntact(
  reader: GateReader,
  { decision }: SignedGateDecision,
  subject: SubjectManifest,
): Promise<boolean> {
  const { tenant, subjectDigest } = decision;
  const lengths = new Map(decision.indexes.map(({ index, length }) => [index, length]));
  const [policy, definition, { set }] = await Promise.all([
    unlessUnreadable(reader.readPolicy(tenant, decision.policy.digest)),
    unlessUnreadable(reader.readDefinition(tenant, decision.definition.digest)),
    assembleEvidence(reader, tenant, { record: subject, digest: subjectDigest }, lengths),
  ]);
  return policy !== null && definition !== null && set.digest === decision.evidenceSetDigest;
}

/** `null` for what is missing and for what is not what it should be: neither can be relied on. */
async function unlessUnreadable<T>(reading: Promise<T | null>): Promise<T | null> {
  try {
    return await reading;
  } catch (thrown) {
    if (thrown instanceof PortcullisError && thrown.code === 'record_unreadable') return null;
    throw thrown;
  }
}
