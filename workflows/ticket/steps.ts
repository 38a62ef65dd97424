/** Runs one step until it is done or the ticket has moved on, whichever comes first; then nothing of it is left running. */
import { CancellationScope, condition, TemporalFailure } from '@temporalio/workflow';
import { inadmissible } from '../../policies/tickets/apply.ts';
import { deadlineOf } from '../../policies/tickets/why.ts';
import { isReview, isTerminal } from '../../schemas/ticket/phase.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import { commit, now, type Session } from './session.ts';

/** After a submission the agent's turn is given so long to end by itself. */
const TURN_END = '30s';

export async function whileUnmoved(session: Session, work: () => Promise<void>): Promise<void> {
  const { revision } = session.state;
  const scope = new CancellationScope();
  const run: Run = { over: false, failure: null };
  const working = scope.run(work).then(
    () => void (run.over = true),
    (thrown: unknown) => {
      run.over = true;
      run.failure = { thrown };
    },
  );
  const moved = () => session.state.revision !== revision;
  try {
    await awaitStep(session, () => run.over || moved());
    if (!run.over && submitted(session)) await condition(() => run.over, TURN_END);
  } finally {
    // On a cancel of the ticket too: what it started is waited for.
    if (!run.over) scope.cancel();
    await CancellationScope.nonCancellable(() => working);
  }
  if (run.failure === null) return;
  const { thrown } = run.failure;
  // Of what the ticket has left it is no news, by our cancel or by itself: what stopped the ticket may well be what broke the step.
  if (thrown instanceof TemporalFailure && moved()) return;
  throw thrown;
}

interface Run {
  over: boolean;
  failure: { readonly thrown: unknown } | null;
}

/** Whether the move came from the agent at work, whose turn then ends by itself. */
function submitted({ state }: Session): boolean {
  const { phase, documentation } = state;
  return isReview(phase) || phase === 'testing' || (phase === 'documenting' && documentation !== null);
}

/** Waits for the step, but no longer than the ticket may wait for what it waits for. */
async function awaitStep(session: Session, done: () => boolean): Promise<void> {
  for (;;) {
    const deadline = boundOf(session.state);
    if (deadline === null) {
      await condition(done);
      return;
    }
    const left = deadline - Date.now();
    if (left > 0) await condition(() => done() || boundOf(session.state) !== deadline, left);
    if (done()) return;
    const { state } = session;
    if (boundOf(state) !== deadline || isTerminal(state.phase)) continue;
    const { revision, waitingOn } = state;
    await commit(session, { type: 'waitExceeded', revision, waitingOn, ...now('timer') });
    return;
  }
}

/** When the wait is given up; `null` too where the ticket would not hear of that, as while it lands. */
function boundOf(state: TicketState): number | null {
  return inadmissible(state, { type: 'waitExceeded' }) === null ? deadlineOf(state) : null;
}
