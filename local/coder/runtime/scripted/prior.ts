/** What the scripted SENTINEL says of findings that stopped an earlier round: it looks whether the same can still be seen there. */
import type { Assignment, OpenBlocker } from '../../../../schemas/harness-api.ts';
import type { ReportedDisposition } from '../../../../schemas/verification/report.ts';
import { unboundedGrowth } from './code.ts';
import type { Judgement } from './judgement.ts';
import { tryGit, type Git } from './repository.ts';
import { holesIn } from './security.ts';

export async function disposedOf(
  git: Git,
  { blockers, head }: Assignment,
  judgement: Judgement,
): Promise<readonly ReportedDisposition[]> {
  return Promise.all(blockers.map((blocker) => dispositionOf(git, head, blocker, judgement)));
}

async function dispositionOf(
  git: Git,
  head: string,
  { findingId: finding, type, location }: OpenBlocker,
  { verdict }: Judgement,
): Promise<ReportedDisposition> {
  if (location === null) {
    // Without a place it can only be told by the whole.
    return verdict === 'APPROVED' ? resolved(finding, 'not_seen_any_more') : stillThere(finding);
  }
  const text = await tryGit(git, 'show', `${head}:${location.path}`);
  if (text === null) return { finding, disposition: 'superseded_by_subject_change', reason: 'file_is_gone' };
  const isThere =
    type === 'security' ? text.split('\n').some((line) => holesIn(line).length > 0) : unboundedGrowth(text).length > 0;
  return isThere ? stillThere(finding) : resolved(finding, 'looked_again_and_gone');
}

function resolved(finding: string, reason: string): ReportedDisposition {
  return { finding, disposition: 'resolved', evidence: ['diff'], reason };
}

function stillThere(finding: string): ReportedDisposition {
  return { finding, disposition: 'still_present', reason: 'seen_again' };
}
