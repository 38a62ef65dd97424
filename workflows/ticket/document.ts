/** After the merge: LORE documents the change, on documents only, behind a small gate of its own. */
import { proxyActivities } from '@temporalio/workflow';
import { producerRun } from '../../policies/tickets/subject.ts';
import { DOCUMENTATION_PATHS, type TicketActivities } from '../../schemas/ticket/activities.ts';
import type { GitActivities } from '../../schemas/git/activities.ts';
import type { LandingIntent, TicketDocumentation } from '../../schemas/ticket/landing.ts';
import { candidateOn } from './candidate.ts';
import { permitted } from './landing.ts';
import { ASKING, GIT } from './options.ts';
import { produce } from './produce.ts';
import { evaluate } from './review.ts';
import { commit, now, type Session } from './session.ts';

const { recordDocumentation } = proxyActivities<TicketActivities>(ASKING);
const { describeChange } = proxyActivities<GitActivities>(GIT);

export async function document(session: Session): Promise<void> {
  const { revision, documentation } = session.state;
  if (!session.input.definition.documentation) {
    await commit(session, { type: 'nothingToDocument', revision, ...now('ticket') });
    return;
  }
  if (documentation === null) {
    await produce(session, 'lore');
    return;
  }
  if (documentation.landed) {
    // An operator has ruled on its incident.
    await commit(session, {
      type: 'documentationLanded',
      revision,
      commit: documentation.head,
      incident: null,
      ...now('lore'),
    });
    return;
  }
  const came = await judged(session, documentation);
  const decided = { revision, ...now('lore') };
  await commit(
    session,
    'refused' in came
      ? { ...decided, type: 'documentationFailed', reason: came.refused }
      : { ...decided, type: 'documentationIntended', ...came },
  );
}

type Came = LandingIntent | { readonly refused: string };

/** What LORE submitted, as a candidate that its gate passes and that may be landed. */
async function judged(session: Session, { head, n }: TicketDocumentation): Promise<Came> {
  const { tenant, ticketId, merge, plan, execution, revision } = session.state;
  const { definition } = session.input;
  if (merge === null || plan === null) return { refused: 'nothing has landed' };
  const { base, made } = await candidateOn(session, { head, message: `Document ${ticketId}: ${definition.title}` });
  if (made.kind !== 'candidate') return { refused: made.kind };
  const change = { base, head: made.commit };
  const { within } = await describeChange({ tenant, pair: ticketId, ...change, within: DOCUMENTATION_PATHS });
  if (!within) return { refused: 'it changes more than documents' };
  const { subjectDigest } = await recordDocumentation({
    tenant,
    ticket: ticketId,
    execution,
    stateRevision: revision,
    n,
    plan,
    change,
    producer: { run: producerRun(session.state, 'lore') },
    definition,
  });
  const { decision, evaluationKey } = await evaluate(session, 'operation', subjectDigest, n);
  if (decision !== 'pass') return { refused: `its gate says ${decision}` };
  return await permitted(session, { candidate: made.commit, base, evaluationKey });
}
