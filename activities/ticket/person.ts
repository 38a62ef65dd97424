/** A person's decision on what a gate judges, made into a record of its evidence: who they are is read, never believed. */
import { areRelated } from '../../schemas/gate/references.ts';
import { canonicalBytes } from '../../schemas/canonical.ts';
import type { CredentialRecord } from '../../schemas/credential.ts';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { PortcullisError } from '../../schemas/errors.ts';
import type { HumanDecision } from '../../schemas/gate/human.ts';
import { keysOf } from '../../schemas/keys.ts';
import type { PersonAsked, PersonRecorded } from '../../schemas/ticket/activities.ts';
import type { TicketRefusal } from '../../schemas/ticket/state.ts';
import type { EvidenceDependencies } from '../evidence/dependencies.ts';
import { recordHumanDecision } from '../evidence/humans.ts';
import { knownSubject, type KnownSubject } from '../evidence/subjects.ts';

export interface PersonDependencies {
  readonly evidence: EvidenceDependencies;
  readonly readCredential: (tenant: string, id: string) => Promise<CredentialRecord | null>;
}

const EVENT = 'personDecided';

/** The same decision again is the same record, whenever it is asked for. @throws `store_unavailable`, `record_unreadable` */
export async function recordPerson(needs: PersonDependencies, asked: PersonAsked): Promise<PersonRecorded> {
  const { tenant, ticket, subjectDigest } = asked;
  const { evidence } = needs.evidence;
  const now = await evidence.now();
  const person = await needs.readCredential(tenant, asked.by);
  if (!isOperator(person, tenant, now)) {
    return refused({ code: 'not_allowed', details: { action: 'decide at a gate' } });
  }
  const known = await knownSubject(evidence, { tenant, subjectDigest });
  const unfit = (await unfitFor(needs.evidence, known, asked, person)) ?? expiryOf(asked, now);
  if (unfit !== null) return refused(unfit);
  if (known.subject.missionId !== ticket) return refused(otherThan('ticket', known.subject.missionId, ticket));
  const reason = await evidence.writeReason(tenant, { schema: 'portcullis/reason/v1', text: asked.reason });
  const decisionId = decisionIdOf(asked, reason);
  if (await isRecorded(needs.evidence, asked, decisionId)) return { kind: 'recorded', decisionId };
  const principal = { id: person.id, lineage: [] };
  const decision: HumanDecision = {
    schema: 'portcullis/human-decision/v1',
    tenant,
    decisionId,
    subjectDigest,
    gate: asked.gate,
    policyRevision: known.subject.gatePolicy.revision,
    principal,
    role: person.role,
    decision: asked.decision,
    case: asked.case,
    reason: { id: 'reason', digest: reason },
    selfReview: areRelated(principal, known.subject.producer.principal),
    expiresAt: asked.expiresAt,
    observedAt: now,
  };
  try {
    const recorded = await recordHumanDecision(needs.evidence, { tenant, decision });
    if (recorded.kind === 'recorded') return { kind: 'recorded', decisionId };
    const what = recorded.reason === 'execution_superseded' ? 'execution' : 'subject';
    return refused(otherThan(what, subjectDigest, 'the current one'));
  } catch (thrown) {
    // The same decision, recorded beside this call a moment earlier.
    const raced = thrown instanceof PortcullisError && thrown.code === 'state_conflict';
    if (raced && (await isRecorded(needs.evidence, asked, decisionId))) return { kind: 'recorded', decisionId };
    throw thrown;
  }
}

function isOperator(person: CredentialRecord | null, tenant: string, now: number): person is CredentialRecord {
  if (person === null || person.tenant !== tenant) return false;
  return person.use === 'operator' && person.state === 'active' && person.expiresAt > now;
}

/** What of the decision does not fit the subject and its policy. */
async function unfitFor(
  { evidence }: EvidenceDependencies,
  { subject, gate }: KnownSubject,
  asked: PersonAsked,
  { role }: CredentialRecord,
): Promise<TicketRefusal | null> {
  if (asked.gate !== gate) return otherThan('gate', asked.gate, gate);
  if ((asked.decision === 'override') !== (asked.case !== null))
    return invalid('case', 'goes with an override and with nothing else');
  if (asked.case === null) return null;
  const policy = await evidence.readPolicy(asked.tenant, subject.gatePolicy.digest);
  const rule = policy?.overrides.find((listed) => listed.case === asked.case);
  if (rule?.role === role) return null;
  const reason =
    rule === undefined ? `its policy lets nobody override ${asked.case}` : `it is for the role ${rule.role}`;
  return { code: 'override_refused', details: { gate, reason } };
}

function expiryOf({ decision, expiresAt }: PersonAsked, now: number): TicketRefusal | null {
  if (expiresAt === null) return null;
  if (decision === 'reject') return invalid('expiresAt', 'is not for a rejection, which does not lapse');
  return expiresAt > now ? null : invalid('expiresAt', 'is past');
}

function decisionIdOf({ by, subjectDigest, gate, decision, case: of, expiresAt }: PersonAsked, reason: string): string {
  const named = { by, subjectDigest, gate, decision, case: of, expiresAt, reason };
  return `h${digestHex(contentDigest(canonicalBytes(named))).slice(0, 32)}`;
}

async function isRecorded(
  { evidence }: EvidenceDependencies,
  { tenant, subjectDigest }: PersonAsked,
  decisionId: string,
): Promise<boolean> {
  const { entries } = await evidence.readIndex(tenant, keysOf(tenant).subjectIndex(subjectDigest));
  return entries.some((entry) => entry.schema !== 'malformed' && entry.name === `human/${decisionId}`);
}

const refused = (refusal: TicketRefusal): PersonRecorded => ({ kind: 'refused', refusal });

const invalid = (path: string, reason: string): TicketRefusal => ({
  code: 'schema_invalid',
  details: { path, reason },
});

const otherThan = (what: string, given: string, expected: string): TicketRefusal => ({
  code: 'ticket_mismatch',
  details: { event: EVENT, what, given, expected },
});
