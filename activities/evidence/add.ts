/** The one way from a record to the store: with the index it belongs to, and the audit entry for either outcome. */
import type { AuditEvent } from '../../schemas/audit.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Recorded, StaleReason, SubjectRef } from '../../schemas/gate/activities.ts';
import { evidenceDigest, type EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import { readEvidenceRecord } from '../../schemas/gate/evidence.schema.ts';
import { keysOf } from '../../schemas/keys.ts';
import { auditWriter } from '../audit/write.ts';
import type { MakeEntry } from '../store/audit-chain.ts';
import type { Addition } from '../store/gate-port.ts';
import type { EvidenceDependencies } from './dependencies.ts';
import type { KnownSubject } from './subjects.ts';

export interface SubjectEvidence extends SubjectRef {
  readonly known: KnownSubject;
  readonly record: EvidenceRecord;
  /** What it is of, unique in its index: `run/r-1`. */
  readonly name: string;
  readonly event: AuditEvent;
}

/** A record of one subject: a run, a finding, a disposition, a person's decision. @throws `schema_invalid`, `state_conflict` */
export async function addToSubject(needs: EvidenceDependencies, given: SubjectEvidence): Promise<Recorded> {
  const { tenant, subjectDigest, known } = given;
  const outcome = await add(needs, given, {
    index: keysOf(tenant).subjectIndex(subjectDigest),
    attempt: null,
    current: { gate: known.gate, digest: subjectDigest },
    atLength: null,
  });
  if (outcome.kind === 'moved') throw portcullisError('internal', {}, new Error('An addition at any length moved.'));
  return outcome;
}

export interface CheckEvidence extends SubjectEvidence {
  readonly index: string;
  readonly attempt: number;
  /** See `Addition.atLength`. */
  readonly atLength: number | null;
}

/** A record of a head, whichever subject has it. */
export function addToCheck(needs: EvidenceDependencies, given: CheckEvidence): Promise<Recorded | Moved> {
  const { index, attempt, atLength } = given;
  return add(needs, given, { index, attempt, current: null, atLength });
}

/** An audit entry holds it. */
const NAME_LIMIT = 240;

/** The index grew meanwhile: look again. */
export interface Moved {
  readonly kind: 'moved';
}

async function add(
  needs: EvidenceDependencies,
  { tenant, subjectDigest, known, record, name, event }: SubjectEvidence,
  place: Pick<Addition, 'index' | 'attempt' | 'current' | 'atLength'>,
): Promise<Recorded | Moved> {
  // What the gate worker will read has to be readable: a record that is not would block the subject for good.
  const checked = readEvidenceRecord(record);
  if (name.length > NAME_LIMIT) throw portcullisError('schema_invalid', { path: 'name', reason: 'is too long' });
  const refs = { subject: subjectDigest, ticket: known.subject.missionId, record: evidenceDigest(checked), name };
  const outcome = await needs.evidence.addEvidence({
    tenant,
    record: checked,
    name,
    subject: known.subject,
    ...place,
    audit: auditWriter(tenant, needs.actionKey, event, refs),
    staleAudit: (reason) => staleEntry(needs, tenant, refs, reason),
  });
  return outcome.kind === 'repeated' ? { kind: 'recorded', digest: outcome.digest } : outcome;
}

/** Makes the audit entry of a record that is kept as history only. */
export function staleEntry(
  { actionKey }: Pick<EvidenceDependencies, 'actionKey'>,
  tenant: string,
  refs: Readonly<Record<string, string>>,
  reason: StaleReason,
): MakeEntry {
  return auditWriter(tenant, actionKey, 'stale_write_rejected', { ...refs, reason });
}
