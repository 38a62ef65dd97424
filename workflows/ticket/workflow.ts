/**
 * `ticket`: one ticket from plan to merged change (spec/tickets.md). Its state changes only through the reducer in
 * `policies/tickets`; here is what is done in each place. No execution or run time-out may be set on it: those run no cleanup.
 */
import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { isSpent } from '../../policies/tickets/allowance.ts';
import { idlePauseMs } from '../../policies/tickets/bounds.ts';
import { landingUnderWay, stepOf } from '../../policies/tickets/position.ts';
import type { GitActivities } from '../../schemas/git/activities.ts';
import type { PairActivities } from '../../schemas/pair-activities.ts';
import type { TicketActivities } from '../../schemas/ticket/activities.ts';
import { isTerminal, isWorkPhase } from '../../schemas/ticket/phase.ts';
import type { TicketInput, TicketOutcome } from '../../schemas/ticket/workflow.ts';
import type { TeardownTrigger } from '../../schemas/workspace/workflow.ts';
import { combine } from './candidate.ts';
import { document } from './document.ts';
import { codeOf } from './failure.ts';
import { hearUpdates, stopFor } from './handlers.ts';
import { recordGivenUp } from './incidents.ts';
import { intendCandidate, landIntended } from './landing.ts';
import { ASKING, GIT, IMPORTING } from './options.ts';
import { produce } from './produce.ts';
import { decide, review, testCandidate } from './review.ts';
import { commit, now, openSession, settled, show, type Session } from './session.ts';
import { whileUnmoved } from './steps.ts';
import { hearWorkspaces, releaseAll, releaseUnneeded } from './workspaces.ts';

const { recordPair } = proxyActivities<PairActivities>(ASKING);
const { admitTicket } = proxyActivities<TicketActivities>(ASKING);
const { importRepository } = proxyActivities<PairActivities>(IMPORTING);
const { fetchBase } = proxyActivities<GitActivities>(GIT);

export async function ticket(input: TicketInput): Promise<TicketOutcome> {
  const session = setup(input);
  const end = await run(session).catch((thrown: unknown) => endOf(session, thrown));
  if (end === 'again') {
    const { state, seq } = session;
    return await continueAsNew<typeof ticket>({ ...input, carried: { state, seq } });
  }
  await CancellationScope.nonCancellable(() => close(session, end));
  const { state } = session;
  if (end === 'cancelled') throw new CancelledFailure('the ticket was cancelled, and nothing of it is left');
  return {
    ticket: state.ticketId,
    phase: state.phase === 'done' ? 'done' : 'abandoned',
    merged: state.merge?.state === 'landed' ? state.merge.candidate : null,
  };
}

function setup(input: TicketInput): Session {
  const session = openSession(input);
  hearWorkspaces(session);
  hearUpdates(session);
  show(session);
  return session;
}

type End = 'ended' | 'cancelled' | 'again';

async function run(session: Session): Promise<End> {
  let idle = 0;
  while (!isTerminal(session.state.phase)) {
    await releaseUnneeded(session);
    // Abandoned while that was under way: there is no step left that anything would end.
    if (isTerminal(session.state.phase)) break;
    if (session.stopping !== null) stopFor(session, session.stopping);
    if (isLong(session)) {
      await settled(session);
      await condition(allHandlersFinished);
      // What came in meanwhile is dealt with first: a landing must not be cut in two.
      if (!isTerminal(session.state.phase)) return 'again';
      break;
    }
    show(session);
    const { state } = session;
    await step(session).catch((thrown: unknown) => mendOrStop(session, thrown));
    idle = session.state === state ? idle + 1 : 0;
    // Whatever kept the step from changing anything is not gone within the same moment, nor does asking faster help.
    if (idle > 0) await condition(() => session.state !== state, idlePauseMs(idle));
  }
  return 'ended';
}

/** Takes in the repository and writes the pair: its id is the ticket's. */
async function openPair(session: Session): Promise<void> {
  const { tenant, definition, source, by } = session.input;
  const repository = { tenant, pair: definition.id };
  const base =
    source.baseSha ??
    (await fetchBase({ ...repository, remote: source.remote, branch: definition.baseBranch, initial: null })).commit;
  await importRepository({ ...repository, importId: source.importId, headSha: base, baseSha: null });
  session.state = { ...session.state, base, head: base };
  const { execution, baseBranch } = session.state;
  await recordPair({
    input: {
      ...repository,
      importId: null,
      headSha: base,
      baseSha: null,
      execution: execution.id,
      generation: execution.generation,
      roles: ['forge', 'sentinel', 'verifier', 'lore'],
      // Tests of a reviewer run in a fresh clone: what FORGE's own executor says can fail its work, never pass it.
      routing: { default: 'verifier', permitted: ['verifier', 'forge'] },
      workspaces: {},
      baseBranch,
      claims: [],
      by,
    },
    credentials: [],
  });
  session.open = true;
}

/**
 * Before it works, and again whenever an operator sent it on: it is listed as open, then the switch is read, so that whoever turns
 * it on finds this ticket or is found by it.
 */
async function admit(session: Session): Promise<void> {
  const { tenant, ticketId: ticket } = session.state;
  const { checks } = session.input.definition;
  const { stopped, unknownCheck } = await admitTicket({ tenant, ticket, checks });
  session.admitted = true;
  if (stopped !== null) stopFor(session, stopped);
  else if (unknownCheck !== null) {
    const reason = `check_unknown: ${unknownCheck.check}, and ${unknownCheck.reason}`;
    await commit(session, { type: 'recoveryFailed', reason, ...now('ticket') });
  }
}

async function step(session: Session): Promise<void> {
  const { revision, phase } = session.state;
  // What a landing comes to is heard first: until then nothing that admission could say would be taken.
  if (!session.admitted && isWorkPhase(phase) && landingUnderWay(session.state) === null) {
    await whileUnmoved(session, () => admit(session));
    if (session.state.revision !== revision) return;
  }
  const work = workOf(session);
  // Half a landing is none of ours: once begun it is heard out, a cancel of the ticket notwithstanding.
  if (work === landIntended) await CancellationScope.nonCancellable(() => landIntended(session));
  else await whileUnmoved(session, () => work(session));
}

/** What is done in the place where the ticket stands. */
function workOf({ open, state }: Session): (session: Session) => Promise<void> {
  const next = stepOf(state);
  if (!open && next.do !== 'awaitOperator') return openPair;
  switch (next.do) {
    case 'produce':
      return (session) => produce(session, next.role);
    case 'verify':
      return (session) => review(session, next.gate);
    case 'decide':
      return (session) => decide(session, next.gate);
    case 'makeCandidate':
      return combine;
    case 'test':
      return testCandidate;
    case 'intend':
      return intendCandidate;
    case 'land':
      return landIntended;
    case 'document':
      return document;
    case 'awaitOperator':
    case 'end':
      return untilMoved;
  }
}

async function untilMoved(session: Session): Promise<void> {
  const { revision } = session.state;
  // What comes in meanwhile must not use up the run.
  await condition(() => session.state.revision !== revision || isLong(session));
}

/** A step that failed for good stops the ticket for an operator, with the code; a cancel is no failure. */
async function mendOrStop(session: Session, thrown: unknown): Promise<void> {
  if (CancellationScope.current().consideredCancelled) throw thrown;
  const reason = codeOf(thrown);
  const type = reason === 'kill_switch' ? 'killSwitchTurned' : 'recoveryFailed';
  // Refused where it has stopped meanwhile, which is as well, and while it lands, which is then asked about again.
  await commit(session, { type, reason, ...now('ticket') });
}

/** A cancel ends the ticket wherever it is, also where a step failed beside it; what has landed stays landed. */
async function endOf(session: Session, thrown: unknown): Promise<End> {
  if (!(thrown instanceof TemporalFailure)) throw thrown;
  const cancelled = CancellationScope.current().consideredCancelled || isCancellation(thrown);
  return await CancellationScope.nonCancellable(async (): Promise<End> => {
    await giveUp(session, cancelled ? 'the workflow was cancelled' : `the workflow failed: ${codeOf(thrown)}`);
    if (cancelled) return 'cancelled';
    // A failure that nothing above understood: the workflow fails by it, and leaves no workspace behind.
    await close(session, 'cancelled');
    throw thrown;
  });
}

/** Whoever reads of it later finds that it has ended, and why. A landing that had begun is heard out first. */
async function giveUp(session: Session, reason: string): Promise<void> {
  if (isWorkPhase(session.state.phase)) await landIntended(session);
  const landing = landingUnderWay(session.state);
  const ended = await commit(session, { type: 'cancelled', reason, ...now('ticket') });
  // Nobody has looked at it yet: an operator still has to.
  if (ended.ok && landing !== null) await recordGivenUp(session, landing.candidate, null);
}

/** Every workspace is released and its end awaited; then every caller has its answer. */
async function close(session: Session, end: End): Promise<void> {
  const trigger: TeardownTrigger =
    end === 'cancelled' ? 'cancelled' : session.state.phase === 'done' ? 'merged' : 'abandoned';
  await releaseAll(session, trigger);
  await settled(session);
  show(session);
  await condition(allHandlersFinished);
}

function isLong({ input, spent }: Session): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return (
    continueAsNewSuggested || isSpent(spent) || (input.historyLimit !== null && historyLength > input.historyLimit)
  );
}
