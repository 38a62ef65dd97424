/** How a request to a ticket is answered: once, recorded before it is answered, and not at all while nobody can tell. */
import { currentUpdateInfo, getExternalWorkflowHandle, proxyActivities } from '@temporalio/workflow';
import { appliedUpdate, withAppliedUpdate } from '../../policies/tickets/updates.ts';
import type { TicketActivities } from '../../schemas/ticket/activities.ts';
import type { EventOf, TicketEvent } from '../../schemas/ticket/event.ts';
import type { TicketRefusal, TicketState, TicketUpdateOutcome } from '../../schemas/ticket/state.ts';
import { requestOfUpdateId } from '../../schemas/ticket/update-id.ts';
import { VERIFICATION_SIGNALS, type TicketAnswer } from '../../schemas/verification/workflow.ts';
import { codeOf } from './failure.ts';
import { RECORDING } from './options.ts';
import { happen, type Session } from './session.ts';

const { closeLandingIncident } = proxyActivities<TicketActivities>(RECORDING);

/** What a request comes to, before the reducer has seen it. */
export type Prepared = { readonly event: TicketEvent } | { readonly refusal: TicketRefusal };

/** What every event of a request carries. */
export const decidedBy = ({ revision, by }: { readonly revision: number; readonly by: string }) => ({
  revision,
  at: Date.now(),
  actor: by,
});

export async function answer(
  session: Session,
  prepare: () => Prepared | Promise<Prepared>,
): Promise<TicketUpdateOutcome> {
  const id = requestId();
  const before = appliedUpdate(session.state, id);
  if (before !== null) return before;
  session.answering += 1;
  try {
    const outcome = await outcomeOf(session, id, prepare);
    // Accepted means recorded.
    await session.recorded;
    return outcome;
  } finally {
    session.answering -= 1;
  }
}

/** One for all the times that the same request is sent. */
export function requestId(): string {
  return requestOfUpdateId(currentUpdateInfo()?.id ?? '');
}

async function outcomeOf(
  session: Session,
  id: string,
  prepare: () => Prepared | Promise<Prepared>,
): Promise<TicketUpdateOutcome> {
  const prepared = await unlessAway(prepare);
  // The same request, sent once more while this one was looked at, may have been faster.
  const meanwhile = appliedUpdate(session.state, id);
  if (meanwhile !== null) return meanwhile;
  const remembered = <O extends TicketUpdateOutcome>(outcome: O): O => {
    session.state = withAppliedUpdate(session.state, id, outcome);
    return outcome;
  };
  if ('refusal' in prepared) return remembered({ accepted: false, refusal: prepared.refusal });
  const { stop } = session.state;
  const applied = happen(session, prepared.event);
  if (!applied.ok) return remembered({ accepted: false, refusal: applied.refusal });
  // In the same moment as the move: the same request that is looked at beside this one finds it.
  const outcome = remembered({ accepted: true, revision: applied.state.revision, phase: applied.state.phase } as const);
  if (prepared.event.type === 'reviewAnswered') await tellVerification(session, prepared.event);
  if (prepared.event.type === 'operatorDecided') await afterDecision(session, prepared.event, stop);
  return outcome;
}

/** Before it works again the switch is read again; and whoever decides on a landing's incident has ruled on it. */
async function afterDecision(
  session: Session,
  { decision, reason, actor: by, at }: EventOf<'operatorDecided'>,
  stop: TicketState['stop'],
): Promise<void> {
  session.admitted = false;
  if (stop?.cause !== 'landing_incident') return;
  const { tenant } = session.state;
  await closeLandingIncident({ tenant, incident: stop.detail, ruling: { ruling: decision, by, reason }, at });
}

/** A fault of git or the store says nothing about what was submitted: not to be remembered, and asked again. */
async function unlessAway(prepare: () => Prepared | Promise<Prepared>): Promise<Prepared> {
  try {
    return await prepare();
  } catch (thrown) {
    return { refusal: { code: 'submission_unavailable', details: { reason: codeOf(thrown) } } };
  }
}

/** The verification waits for the answer; one that has just ended needs none. */
async function tellVerification(
  session: Session,
  { answer: said, approvalId, reviewDigest }: TicketAnswer,
): Promise<void> {
  if (session.verification === null) return;
  const told: TicketAnswer = { answer: said, approvalId, reviewDigest };
  await getExternalWorkflowHandle(session.verification)
    .signal(VERIFICATION_SIGNALS.answered, told)
    .catch(() => {});
}
