/** The merge candidate: made by us from head and base, and landed as it was judged. */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { parseDigest } from '../../schemas/digest.ts';
import type { GitActivities, LandAnswer, LandRequest } from '../../schemas/git/activities.ts';
import type { TicketActivities } from '../../schemas/ticket/activities.ts';
import { GIT, LANDING, RECORDING } from './options.ts';
import { codeOf } from './failure.ts';
import { commit, now, type Session } from './session.ts';

const { fetchBase, makeCandidate } = proxyActivities<GitActivities>(GIT);
const { land } = proxyActivities<GitActivities>(LANDING);
const { openLandingIncident } = proxyActivities<TicketActivities>(RECORDING);

/** Others land on the same branch in between; past this an operator looks. */
const BUSY_TRIES = 60;

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

/** Runs to its answer once the intent is recorded, a cancel of the ticket notwithstanding: half a landing is none of ours. */
export async function landCandidate(session: Session): Promise<void> {
  const { revision, candidate, passes } = session.state;
  const pass = passes.find(({ gate }) => gate === 'merge');
  if (candidate === null || pass === undefined) {
    await commit(session, { type: 'recoveryFailed', reason: 'no pass to land on', ...now('ticket') });
    return;
  }
  const { evaluationKey } = pass;
  const intent = { candidate: candidate.commit, evaluationKey } as const;
  if (session.state.merge === null) {
    const intended = await commit(session, { type: 'mergeIntended', revision, ...intent, ...now('vessel') });
    if (!intended.ok) return;
  }
  const answer = await landedAnswer(session, {
    expectedOld: candidate.base,
    candidate: candidate.commit,
    evaluationKey: parseDigest('gate-evaluation', evaluationKey),
  });
  const decided = { revision: session.state.revision, ...now('vessel') };
  switch (answer.outcome) {
    case 'landed':
      await commit(session, {
        ...decided,
        type: 'landed',
        candidate: candidate.commit,
        incident: await incidentOf(session, answer),
      });
      return;
    case 'base_moved':
      await commit(session, { ...decided, type: 'baseMoved', base: answer.now ?? 'nowhere' });
      return;
    case 'refused':
      await commit(session, { ...decided, type: 'landingRefused', reason: `${answer.by}: ${answer.reason}` });
      return;
  }
}

/** The incident of a landing under which authority changed, opened before anything follows from it; `null` when it did not. */
export async function incidentOf(
  { state: { tenant, ticketId }, workflowId: run }: Session,
  { incident, commit: candidate }: Extract<LandAnswer, { readonly outcome: 'landed' }>,
): Promise<string | null> {
  if (!incident) return null;
  return await openLandingIncident({ tenant, ticket: ticketId, run, candidate, at: Date.now() });
}

type Answer = Exclude<LandAnswer, { outcome: 'busy' }>;

/** Asks until the branch is not somebody else's any more. */
export async function landedAnswer(
  session: Session,
  what: Pick<LandRequest, 'expectedOld' | 'candidate' | 'evaluationKey'>,
): Promise<Answer> {
  const { tenant, ticketId } = session.state;
  const { source, definition } = session.input;
  const place = { tenant, pair: ticketId, remote: source.remote, branch: definition.baseBranch };
  try {
    for (let tries = 0; tries < BUSY_TRIES; tries += 1) {
      const answer = await land({ ...place, ...what, holder: session.workflowId });
      if (answer.outcome !== 'busy') return answer;
      await sleep(Math.min(30_000, Math.max(250, answer.retryAfterMs)));
    }
    return { outcome: 'refused', by: 'remote', reason: 'somebody else keeps landing on the branch' };
  } catch (thrown) {
    // Final by its code: it was refused before anything moved.
    return { outcome: 'refused', by: 'remote', reason: codeOf(thrown) };
  }
}
