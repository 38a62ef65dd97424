/** How a request to a ticket is answered: once, recorded before it is answered, and not at all while nobody can tell. */
import { currentUpdateInfo, getExternalWorkflowHandle } from '@temporalio/workflow';
import { whenAnswered, whenHeard } from '../../policies/tickets/allowance.ts';
import { landingUnderWay } from '../../policies/tickets/position.ts';
import { appliedUpdate, withAppliedUpdate } from '../../policies/tickets/updates.ts';
import type { EventOf, TicketEvent } from '../../schemas/ticket/event.ts';
import type { TicketRefusal, TicketState, TicketUpdateOutcome } from '../../schemas/ticket/state.ts';
import { requestOfUpdateId } from '../../schemas/ticket/update-id.ts';
import type { TicketUpdateName } from '../../schemas/ticket/workflow.ts';
import { VERIFICATION_SIGNALS, type TicketAnswer } from '../../schemas/verification/workflow.ts';
import { codeOf } from './failure.ts';
import { recordGivenUp, ruleOn } from './incidents.ts';
import { happen, type Session } from './session.ts';

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
  { name, revision }: Asked,
  prepare: () => Prepared | Promise<Prepared>,
): Promise<TicketUpdateOutcome> {
  session.spent = whenHeard(session.spent, name, revision);
  const id = requestId();
  let outcome = appliedUpdate(session.state, id);
  session.answering += 1;
  try {
    outcome ??= await outcomeOf(session, id, prepare);
    // Accepted means recorded.
    await session.recorded;
    return outcome;
  } finally {
    session.answering -= 1;
    session.spent = whenAnswered(session.spent, name, revision, outcome);
  }
}

/** Which update, on which revision. */
export interface Asked {
  readonly name: TicketUpdateName;
  readonly revision: number;
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

/** Before it works again the switch is read again; and whoever decides on a landing's incident, or gives one up, has ruled on it. */
async function afterDecision(
  session: Session,
  { decision, reason, actor: by }: EventOf<'operatorDecided'>,
  stop: TicketState['stop'],
): Promise<void> {
  session.admitted = false;
  // Told during a landing that has since been answered and ruled on: what the switch is now, is read.
  session.stopping = null;
  const ruling = { ruling: decision, by, reason };
  if (stop?.cause === 'landing_incident') await ruleOn(session.state.tenant, stop.detail, ruling);
  const given = decision === 'abandon' ? landingUnderWay(session.state) : null;
  if (given !== null) await recordGivenUp(session, given.candidate, ruling);
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
