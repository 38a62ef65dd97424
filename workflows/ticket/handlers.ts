/**
 * Updates and signals of a ticket. Validators are synchronous and read only; what they refuse leaves no trace in the history. A
 * handler answers an outcome and never throws for a transient fault; a repeated id is answered like the first.
 */
import {
  ApplicationFailure,
  currentUpdateInfo,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import { inadmissible } from '../../policies/tickets/apply.ts';
import { appliedUpdate, withAppliedUpdate } from '../../policies/tickets/updates.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { GitActivities } from '../../schemas/git/activities.ts';
import { branchOf } from '../../schemas/git/refs.ts';
import type { TicketActivities } from '../../schemas/ticket/activities.ts';
import type { TicketEvent, TicketEventType } from '../../schemas/ticket/event.ts';
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
import { VERIFICATION_SIGNALS, type TicketAnswer } from '../../schemas/verification/workflow.ts';
import { codeOf } from './failure.ts';
import { READING } from './options.ts';
import { happen, type Session } from './session.ts';

const { readPlan } = proxyActivities<TicketActivities>(READING);
const { checkPushed } = proxyActivities<GitActivities>(READING);

type Prepared = { readonly event: TicketEvent } | { readonly refusal: TicketRefusal };
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
  setHandler(defineSignal<[KillSwitchNotice]>(TICKET_SIGNALS.killSwitch), ({ reason, by }) => {
    happen(session, { type: 'killSwitchTurned', reason, at: Date.now(), actor: by });
  });
  setHandler(defineQuery<TicketState>(TICKET_STATE_QUERY), () => session.state);
}

function on<N extends TicketUpdateName>(
  session: Session,
  name: N,
  typeIn: (state: TicketState) => TicketEventType,
  prepare: Prepare<N>,
): void {
  const update = defineUpdate<TicketUpdateOutcome, [TicketUpdateArguments[N]]>(TICKET_UPDATES[name]);
  setHandler(update, (request) => answer(session, () => prepare(request)), {
    validator: (request: TicketUpdateArguments[N]) => {
      const id = currentUpdateInfo()?.id ?? '';
      if (appliedUpdate(session.state, id) !== null) return;
      const event = { type: typeIn(session.state), revision: request.revision };
      const refusal =
        session.open || event.type === 'operatorDecided'
          ? inadmissible(session.state, event)
          : ({ code: 'ticket_phase', details: { event: event.type, phase: 'opening' } } as const);
      if (refusal !== null) throw rejection(refusal);
    },
  });
}

function rejection({ code, details }: TicketRefusal): ApplicationFailure {
  return ApplicationFailure.nonRetryable(portcullisError(code, details).message, code, details);
}

async function answer(session: Session, prepare: () => Prepared | Promise<Prepared>): Promise<TicketUpdateOutcome> {
  const id = currentUpdateInfo()?.id ?? '';
  const before = appliedUpdate(session.state, id);
  if (before !== null) return before;
  session.answering += 1;
  try {
    const outcome = await outcomeOf(session, prepare);
    session.state = withAppliedUpdate(session.state, id, outcome);
    // Accepted means recorded.
    await session.recorded;
    return outcome;
  } finally {
    session.answering -= 1;
  }
}

async function outcomeOf(session: Session, prepare: () => Prepared | Promise<Prepared>): Promise<TicketUpdateOutcome> {
  const prepared = await prepare();
  if ('refusal' in prepared) return { accepted: false, refusal: prepared.refusal };
  const applied = happen(session, prepared.event);
  if (!applied.ok) return { accepted: false, refusal: applied.refusal };
  if (prepared.event.type === 'reviewAnswered') await tellVerification(session, prepared.event);
  return { accepted: true, revision: applied.state.revision, phase: applied.state.phase };
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

const decidedBy = ({ revision, by }: { readonly revision: number; readonly by: string }) => ({
  revision,
  at: Date.now(),
  actor: by,
});

const missing = (path: string): Prepared => ({ refusal: { code: 'missing_artifact', details: { path } } });

async function planSubmitted(session: Session, request: TicketUpdateArguments['submitPlan']): Promise<Prepared> {
  const { tenant, ticketId, base } = session.state;
  const { commit } = request;
  const unpushed = await whyNotPushed(session, 'forge', commit, base);
  if (unpushed !== null) return missing(unpushed);
  const plan = await readPlan({ tenant, ticket: ticketId, commit });
  if (!plan.found) return missing(plan.reason);
  const { digest, segments } = plan;
  return { event: { ...decidedBy(request), type: 'planSubmitted', plan: { commit, digest, segments } } };
}

async function segmentSubmitted(session: Session, request: TicketUpdateArguments['submitSegment']): Promise<Prepared> {
  const { commit, n } = request;
  const unpushed = await whyNotPushed(session, 'forge', commit, session.state.segment?.base ?? session.state.base);
  if (unpushed !== null) return missing(unpushed);
  return { event: { ...decidedBy(request), type: 'segmentSubmitted', n, head: commit } };
}

function readyType({ phase }: TicketState): 'documentationSubmitted' | 'readySubmitted' {
  return phase === 'documenting' ? 'documentationSubmitted' : 'readySubmitted';
}

async function readySubmitted(session: Session, request: TicketUpdateArguments['submitReady']): Promise<Prepared> {
  const { commit: head } = request;
  const type = readyType(session.state);
  if (type === 'readySubmitted') return { event: { ...decidedBy(request), type, head } };
  const unpushed = await whyNotPushed(session, 'lore', head, session.state.merge?.candidate ?? session.state.base);
  if (unpushed !== null) return missing(unpushed);
  return { event: { ...decidedBy(request), type, head } };
}

/** Only what was pushed to the role's own branch, on top of what was accepted before, can be submitted. */
async function whyNotPushed(
  session: Session,
  role: 'forge' | 'lore',
  commit: string,
  after: string,
): Promise<string | null> {
  const { tenant, ticketId, branch: own } = session.state;
  const branch = branchOf(role, ticketId) ?? own;
  try {
    const pushed = await checkPushed({ tenant, pair: ticketId, commit, branch, after });
    return pushed.pushed ? null : `${commit} on ${branch} (${pushed.reason})`;
  } catch (thrown) {
    return `${commit} on ${branch} (${codeOf(thrown)})`;
  }
}

function answered(said: 'approve' | 'reject', request: AnswerReview): Prepared {
  const { n, approvalId, reviewDigest } = request;
  return { event: { ...decidedBy(request), type: 'reviewAnswered', n, answer: said, approvalId, reviewDigest } };
}

function operator(
  request: { readonly revision: number; readonly by: string },
  decision: TicketUpdateArguments['decide']['decision'],
  reason: string,
): Prepared {
  return { event: { ...decidedBy(request), type: 'operatorDecided', decision, reason: reason.slice(0, 500) } };
}
