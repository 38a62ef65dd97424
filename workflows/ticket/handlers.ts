/**
 * Updates and signals of a ticket. Validators are synchronous and read only; what they refuse leaves no trace in the history. A
 * handler answers an outcome and never throws for a transient fault; a repeated id is answered like the first.
 */
import {
  ApplicationFailure,
  defineQuery,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import { overspent } from '../../policies/tickets/allowance.ts';
import { inadmissible } from '../../policies/tickets/apply.ts';
import { otherSubject } from '../../policies/tickets/on-gate.ts';
import { appliedUpdate } from '../../policies/tickets/updates.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { TicketActivities } from '../../schemas/ticket/activities.ts';
import type { TicketEventType } from '../../schemas/ticket/event.ts';
import { GATE_OF_REVIEW } from '../../schemas/ticket/phase.ts';
import type { TicketRefusal, TicketState, TicketUpdateOutcome } from '../../schemas/ticket/state.ts';
import {
  TICKET_SIGNALS,
  TICKET_STATE_QUERY,
  TICKET_UPDATES,
  type AnswerReview,
  type KillSwitchNotice,
  type TicketUpdateArguments,
  type TicketUpdateName,
} from '../../schemas/ticket/workflow.ts';
import { answer, decidedBy, requestId, type Prepared } from './answering.ts';
import { ANSWERING } from './options.ts';
import { happen, type Session } from './session.ts';
import { planSubmitted, readySubmitted, readyType, segmentSubmitted } from './submissions.ts';
import { shortened } from '../../schemas/text.ts';

const { recordPerson } = proxyActivities<TicketActivities>(ANSWERING);

const GATES = Object.values(GATE_OF_REVIEW);

type Prepare<N extends TicketUpdateName> = (request: TicketUpdateArguments[N]) => Prepared | Promise<Prepared>;

export function hearUpdates(session: Session): void {
  on(
    session,
    'submitPlan',
    () => 'planSubmitted',
    (request) => planSubmitted(session, request),
  );
  on(
    session,
    'submitSegment',
    () => 'segmentSubmitted',
    (request) => segmentSubmitted(session, request),
  );
  on(session, 'submitReady', readyType, (request) => readySubmitted(session, request));
  on(
    session,
    'approve',
    () => 'reviewAnswered',
    (request) => answered('approve', request),
  );
  on(
    session,
    'reject',
    () => 'reviewAnswered',
    (request) => answered('reject', request),
  );
  on(
    session,
    'decide',
    () => 'operatorDecided',
    ({ decision, reason, ...request }) => operator(request, decision, reason),
  );
  on(
    session,
    'resume',
    () => 'operatorDecided',
    ({ reason, ...request }) => operator(request, 'resume', reason),
  );
  on(
    session,
    'abandon',
    () => 'operatorDecided',
    ({ reason, ...request }) => operator(request, 'abandon', reason),
  );
  on(
    session,
    'decideGate',
    () => 'personDecided',
    (request) => personDecided(session, request),
  );
  setHandler(defineSignal<[KillSwitchNotice]>(TICKET_SIGNALS.killSwitch), (notice) => stopFor(session, notice));
  setHandler(defineQuery<TicketState>(TICKET_STATE_QUERY), () => session.state);
}

function on<N extends TicketUpdateName>(
  session: Session,
  name: N,
  typeIn: (state: TicketState) => TicketEventType,
  prepare: Prepare<N>,
): void {
  const update = defineUpdate<TicketUpdateOutcome, [TicketUpdateArguments[N]]>(TICKET_UPDATES[name]);
  setHandler(update, (request) => answer(session, { name, revision: request.revision }, () => prepare(request)), {
    validator: (request: TicketUpdateArguments[N]) => {
      if (appliedUpdate(session.state, requestId()) !== null) return;
      const event = { type: typeIn(session.state), revision: request.revision };
      const refusal =
        session.open || event.type === 'operatorDecided'
          ? inadmissible(session.state, event)
          : ({ code: 'ticket_phase', details: { event: event.type, phase: 'opening' } } as const);
      const refused = refusal ?? overspent(session.spent, name, request.revision);
      if (refused !== null) throw rejection(refused);
    },
  });
}

function rejection({ code, details }: TicketRefusal): ApplicationFailure {
  return ApplicationFailure.nonRetryable(portcullisError(code, details).message, code, details);
}

function answered(said: 'approve' | 'reject', request: AnswerReview): Prepared {
  const { n, approvalId, reviewDigest } = request;
  return { event: { ...decidedBy(request), type: 'reviewAnswered', n, answer: said, approvalId, reviewDigest } };
}

/** What they say is recorded as evidence before the ticket hears of it; whether it counts says the next evaluation. */
async function personDecided(
  session: Session,
  { revision, by, ...given }: TicketUpdateArguments['decideGate'],
): Promise<Prepared> {
  const { tenant, ticketId } = session.state;
  const { subjectDigest, decision } = given;
  const gate = GATES.find((known) => known === given.gate);
  const type = 'personDecided';
  if (gate === undefined) {
    return {
      refusal: {
        code: 'ticket_mismatch',
        details: { event: type, what: 'gate', given: given.gate, expected: GATES.join(', ') },
      },
    };
  }
  const other = otherSubject(session.state, { type, gate, subjectDigest });
  if (other !== null) return other;
  const recorded = await recordPerson({ tenant, ticket: ticketId, by, ...given });
  if (recorded.kind === 'refused') return recorded;
  const { decisionId } = recorded;
  return { event: { ...decidedBy({ revision, by }), type, gate, subjectDigest, decision, decisionId } };
}

/** While a landing is under way it has to be answered first; what stands then is stopped. */
export function stopFor(session: Session, notice: KillSwitchNotice): void {
  const { reason, by } = notice;
  const stopped = happen(session, { type: 'killSwitchTurned', reason, at: Date.now(), actor: by });
  session.stopping = !stopped.ok && stopped.refusal.code === 'merge_in_progress' ? notice : null;
}

function operator(
  request: { readonly revision: number; readonly by: string },
  decision: TicketUpdateArguments['decide']['decision'],
  reason: string,
): Prepared {
  return { event: { ...decidedBy(request), type: 'operatorDecided', decision, reason: shortened(reason, 500) } };
}
