/** Registers subjects: the one exact thing that a gate judges, under its own digest. */
import { portcullisError } from '../../schemas/errors.ts';
import type { RegisteredSubject, SubjectRef } from '../../schemas/gate/activities.ts';
import { readSubject } from '../../schemas/gate/subject.schema.ts';
import { orderedSubject, subjectDigest, type SubjectManifest } from '../../schemas/gate/subject.ts';
import type { GateKind } from '../../schemas/gate/vocabulary.ts';
import { auditWriter } from '../audit/write.ts';
import type { GateReader } from '../store/gate-port.ts';
import type { EvidenceDependencies } from './dependencies.ts';

/** @throws `schema_invalid`, `policy_mismatch` when it does not name the registered policy and definition of its gate */
export async function registerSubject(
  needs: EvidenceDependencies,
  { tenant, manifest }: { readonly tenant: string; readonly manifest: SubjectManifest },
): Promise<RegisteredSubject> {
  const subject = orderedSubject(readSubject(manifest));
  if (subject.tenant !== tenant)
    throw portcullisError('schema_invalid', { path: 'subject.tenant', reason: 'is another' });
  const digest = subjectDigest(subject);
  const { evidence } = needs;
  const gate = await gateOf(evidence, subject);
  const head = await evidence.readPolicyHead(tenant, gate);
  const isListed = (await evidence.subjectsOf(tenant, subject.missionId)).some((one) => one.subjectDigest === digest);
  // Registered before under a policy that was current then: a retry of that step finds it.
  if (
    !isListed &&
    (head?.policy.digest !== subject.gatePolicy.digest || head.definition.digest !== subject.gateDefinition.digest)
  ) {
    throw portcullisError('policy_mismatch');
  }
  const refs = { ticket: subject.missionId, ticketGate: gate, subject: digest };
  await evidence.registerSubject(subject, digest, gate, auditWriter(tenant, needs.actionKey, 'request_created', refs));
  const [newest, pair] = await Promise.all([
    evidence.readSubjectHead(tenant, subject.missionId, gate),
    evidence.readHead(tenant, subject.missionId),
  ]);
  const current =
    newest?.subjectDigest === digest &&
    pair?.execution === subject.executionId &&
    pair.generation === subject.executionGeneration;
  return { subjectDigest: digest, gate, current };
}

export interface KnownSubject {
  readonly subject: SubjectManifest;
  readonly gate: GateKind;
}

/** @throws `not_found`, `record_unreadable` */
export async function knownSubject(
  evidence: GateReader,
  { tenant, subjectDigest: digest }: SubjectRef,
): Promise<KnownSubject> {
  const subject = await evidence.readSubject(tenant, digest);
  if (subject === null) throw portcullisError('not_found', { what: 'subject', id: digest });
  return { subject, gate: await gateOf(evidence, subject) };
}

async function gateOf(evidence: GateReader, subject: SubjectManifest): Promise<GateKind> {
  const { digest } = subject.gateDefinition;
  const definition = await evidence.readDefinition(subject.tenant, digest);
  if (definition === null) throw portcullisError('not_found', { what: 'gate definition', id: digest });
  return definition.gate;
}
