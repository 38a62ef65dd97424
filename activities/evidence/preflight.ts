/** Whether calling a verifier can still matter, over the evidence that is there now. */
import type { PreflightAnswer, SubjectRef } from '../../schemas/gate/activities.ts';
import { preflight } from '../../policies/gates/preflight.ts';
import { assembleEvidence, readJudged } from '../gate/assemble.ts';
import type { EvidenceDependencies } from './dependencies.ts';

/** @throws `not_found`, `record_unreadable` */
export async function preflightSubject(
  { evidence }: Pick<EvidenceDependencies, 'evidence'>,
  { tenant, subjectDigest }: SubjectRef,
): Promise<PreflightAnswer> {
  const judged = await readJudged(evidence, tenant, subjectDigest);
  const { set } = await assembleEvidence(evidence, tenant, judged.subject);
  const { verifierNeeded, hits } = preflight({ ...judged, evidence: set, asOf: await evidence.now() });
  return { verifierNeeded, hits: hits.map(({ code, ref }) => ({ code, ref })) };
}
