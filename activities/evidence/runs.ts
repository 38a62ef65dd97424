/** Verification runs, and the grants they act under. A run whose grant is gone is history, whatever it found. */
import { evidenceDigest } from '../../schemas/gate/evidence-set.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Recorded, Revocation, StaleReason } from '../../schemas/gate/activities.ts';
import { readWith } from '../../schemas/gate/fields.schema.ts';
import type { Grant } from '../../schemas/gate/request.ts';
import { grantSchema } from '../../schemas/gate/request.schema.ts';
import type { VerificationRun } from '../../schemas/gate/run.ts';
import { auditWriter } from '../audit/write.ts';
import { addToSubject, staleEntry } from './add.ts';
import type { EvidenceDependencies } from './dependencies.ts';
import { knownSubject } from './subjects.ts';

/** @throws `state_conflict` when that revision is there with other content */
export async function recordGrant(
  { evidence, actionKey }: EvidenceDependencies,
  { tenant, grant }: { readonly tenant: string; readonly grant: Grant },
): Promise<void> {
  const checked = readWith(grantSchema, grant, 'grant');
  if (checked.tenant !== tenant)
    throw portcullisError('schema_invalid', { path: 'grant.tenant', reason: 'is another' });
  const refs = { grant: grantName(checked), principal: checked.principal.id };
  await evidence.writeGrant(checked, auditWriter(tenant, actionKey, 'grant_recorded', refs));
}

/** Repeatable; never taken back. */
export async function revokeAuthority(
  { evidence, actionKey }: EvidenceDependencies,
  { tenant, authority, by }: Revocation,
): Promise<void> {
  const record = { schema: 'portcullis/revocation/v1', authority, by } as const;
  await evidence.revoke(tenant, record, auditWriter(tenant, actionKey, 'grant_revoked', { authority, by }));
}

/** @throws `not_found` when the grant was never recorded, `not_allowed` when it is another's, `state_conflict` */
export async function recordRun(
  needs: EvidenceDependencies,
  { tenant, run }: { readonly tenant: string; readonly run: VerificationRun },
): Promise<Recorded> {
  const known = await knownSubject(needs.evidence, { tenant, subjectDigest: run.subjectDigest });
  const name = `run/${run.runId}`;
  const late = await lateBy(needs, tenant, run);
  if (late !== null) {
    const digest = evidenceDigest(run);
    const refs = { subject: run.subjectDigest, ticket: known.subject.missionId, record: digest, name };
    await needs.evidence.keepStale(tenant, run, staleEntry(needs, tenant, refs, late));
    return { kind: 'stale', digest, reason: late };
  }
  const event = run.outcome.state === 'finished' ? 'evidence_finalised' : 'unavailable';
  return addToSubject(needs, { tenant, subjectDigest: run.subjectDigest, known, record: run, name, event });
}

/** Why the run's grant no longer carries it; `null` when it does. */
async function lateBy(
  { evidence }: EvidenceDependencies,
  tenant: string,
  run: VerificationRun,
): Promise<StaleReason | null> {
  const { id, revision } = run.grant;
  const grant = await evidence.readGrant(tenant, id, revision);
  if (grant === null) throw portcullisError('not_found', { what: 'grant', id: `${id}@${revision}` });
  if (grant.principal.id !== run.verifier.principal.id || grant.generation !== run.executionGeneration) {
    throw portcullisError('not_allowed', { action: 'act under a grant of another principal or execution' });
  }
  const names = [grantName(grant), `principal:${grant.principal.id}`];
  if (grant.revokedAt !== null || (await evidence.readRevoked(tenant, names)).size > 0) return 'grant_revoked';
  return grant.expiresAt <= run.observedAt ? 'grant_expired' : null;
}

function grantName({ id, revision }: Pick<Grant, 'id' | 'revision'>): string {
  return `grant:${id}@${revision}`;
}
