/** Landings in the audit chain: what is about to be landed on whose word, and what was read back. */
import type { LandAnswer, LandRequest } from '../../schemas/git/activities.ts';
import { shortened } from '../../schemas/text.ts';
import { auditWriter } from '../audit/write.ts';
import type { SigningKey } from '../signing/keys.ts';
import type { ControlStore } from '../store/port.ts';

export interface LandAudit {
  readonly store: Pick<ControlStore, 'appendAuditOnce'>;
  /** Signs the entries. */
  readonly actionKey: SigningKey;
}

/** As long as a ref of an entry may be. */
const REF_CHARS = 255;

/**
 * Lands with an entry before and one after, each once however often the landing is tried: without the first nothing is moved, and
 * a landing whose second could not be written is tried again, which reads it back. @throws what the landing throws, `record_unreadable`
 */
export async function landEntered(
  needs: LandAudit,
  request: LandRequest,
  landing: () => Promise<LandAnswer>,
): Promise<LandAnswer> {
  await enter(needs, request, 'merge_intent');
  const answer = await landing();
  if (answer.outcome === 'landed') await enter(needs, request, 'merged');
  return answer;
}

async function enter(
  { store, actionKey }: LandAudit,
  { tenant, pair, remote, branch, expectedOld, candidate, evaluationKey }: LandRequest,
  event: 'merge_intent' | 'merged',
): Promise<void> {
  const refs = {
    ticket: pair,
    repository: remote ?? 'own',
    branch: shortened(branch, REF_CHARS),
    base: expectedOld,
    candidate,
    evaluation: evaluationKey,
  };
  await store.appendAuditOnce(tenant, auditWriter(tenant, actionKey, event, refs));
}
