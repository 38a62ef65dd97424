/** Whether calling a verifier can still matter, over the evidence that is there now. */
import type { PreflightAnswer, SubjectRef } from '../../schemas/gate/activities.ts';
import { preflight } from '../../policies/gates/preflight.ts';
import { auditWriter } from '../audit/write.ts';
import { assembleEvidence, readJudged } from '../gate/assemble.ts';
import type { EvidenceDependencies } from './dependencies.ts';

/** What was found is entered in the audit chain, once for each evidence set and answer. @throws `not_found`, `record_unreadable` */
export async function preflightSubject(
  { evidence, store, actionKey }: Pick<EvidenceDependencies, 'evidence' | 'store' | 'actionKey'>,
  { tenant, subjectDigest }: SubjectRef,
): Promise<PreflightAnswer> {
  const judged = await readJudged(evidence, tenant, subjectDigest);
  const { set } = await assembleEvidence(evidence, tenant, judged.subject);
  const { verifierNeeded, hits } = preflight({ ...judged, evidence: set, asOf: await evidence.now() });
  const refs = {
    ticket: judged.subject.record.missionId,
    subject: subjectDigest,
    evidenceSet: set.digest,
    policy: judged.policy.digest,
    verifierNeeded: String(verifierNeeded),
  };
  await store.appendAuditOnce(tenant, auditWriter(tenant, actionKey, 'preflight_evaluated', refs));
  return { verifierNeeded, hits: hits.map(({ code, ref }) => ({ code, ref })) };
}
