/** A person's decision as evidence. It moves nothing by itself: the next evaluation reads it. */
import { portcullisError } from '../../schemas/errors.ts';
import type { Recorded } from '../../schemas/gate/activities.ts';
import type { HumanDecision } from '../../schemas/gate/human.ts';
import { addToSubject } from './add.ts';
import type { EvidenceDependencies } from './dependencies.ts';
import { knownSubject } from './subjects.ts';

/** @throws `schema_invalid`, `state_conflict` */
export async function recordHumanDecision(
  needs: EvidenceDependencies,
  { tenant, decision }: { readonly tenant: string; readonly decision: HumanDecision },
): Promise<Recorded> {
  const { subjectDigest } = decision;
  const known = await knownSubject(needs.evidence, { tenant, subjectDigest });
  if (decision.gate !== known.gate) {
    throw portcullisError('schema_invalid', { path: 'decision.gate', reason: `is not ${known.gate}` });
  }
  const name = `human/${decision.decisionId}`;
  return addToSubject(needs, { tenant, subjectDigest, known, record: decision, name, event: 'human_decided' });
}
