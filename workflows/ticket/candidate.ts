/** The merge candidate: made by us from head and the newest base. */
import { proxyActivities } from '@temporalio/workflow';
import type { GitActivities } from '../../schemas/git/activities.ts';
import { GIT } from './options.ts';
import { commit, now, type Session } from './session.ts';

const { fetchBase, makeCandidate } = proxyActivities<GitActivities>(GIT);

export interface MadeOf {
  readonly head: string;
  readonly message: string;
}

/** Combines a head with the newest base. */
export async function candidateOn(session: Session, { head, message }: MadeOf) {
  const { tenant, ticketId, base: initial } = session.state;
  const { source, definition } = session.input;
  const at = Date.now();
  const repository = { tenant, pair: ticketId };
  const base = await fetchBase({ ...repository, remote: source.remote, branch: definition.baseBranch, initial });
  const made = await makeCandidate({ ...repository, base: base.commit, head, message, squash: true, at });
  return { base: base.commit, made };
}

export async function combine(session: Session): Promise<void> {
  const { revision, head, ticketId } = session.state;
  const message = `${session.input.definition.title}\n\nTicket: ${ticketId}`;
  const { base, made } = await candidateOn(session, { head, message });
  const decided = { revision, ...now('git') };
  switch (made.kind) {
    case 'candidate': {
      const candidate = { commit: made.commit, base: made.base, head: made.head };
      await commit(session, { ...decided, type: 'candidateMade', candidate });
      return;
    }
    case 'conflict':
      await commit(session, { ...decided, type: 'candidateConflicted', base, paths: made.paths });
      return;
    case 'nothing':
      await commit(session, { ...decided, type: 'artifactMissing', path: 'the change: it adds nothing to the base' });
      return;
  }
}
