/** Waits until it is this run's turn on its executor, bounded, and shows the place meanwhile. */
import { condition, proxyLocalActivities } from '@temporalio/workflow';
import type { RunEnd } from '../../policies/verify/result.ts';
import type { Seat } from '../../schemas/queues.ts';
import type { Turn, VerifyLocalActivities } from '../../schemas/verify/activities.ts';
import { LOCAL_RETRY } from './options.ts';
import type { Show } from './progress.ts';

const { takeTurn } = proxyLocalActivities<VerifyLocalActivities>(LOCAL_RETRY);

/** How long a request may wait for a busy executor (command policy, spec section 4). */
const QUEUE_BOUND_MS = 300_000;
/** Presence is unknown for at most 8 s after a gateway started; past this it will not become known. */
const SETTLING_BOUND_MS = 20_000;

export interface TurnWait {
  readonly seat: Seat;
  readonly workflowId: string;
  readonly taskId: string;
  readonly show: Show;
  /** Numbers the status events that the wait appends. */
  readonly nextOffset: () => number;
  /** True once since somebody left the line. */
  readonly takeNudge: () => boolean;
}

/** `null` when the run may be dispatched; otherwise how it ended without running. */
export async function awaitTurn(wait: TurnWait): Promise<RunEnd | null> {
  const since = Date.now();
  let shown: number | null = null;
  for (let look = 0; ; look += 1) {
    const { seat, workflowId, taskId } = wait;
    const turn: Turn = await takeTurn({ seat, workflowId, taskId, offset: wait.nextOffset(), shown });
    const waited = Date.now() - since;
    switch (turn.kind) {
      case 'go':
        return null;
      case 'absent':
        return unavailable('absent');
      case 'settling':
        if (waited >= SETTLING_BOUND_MS) return unavailable('presence_unknown');
        wait.show({
          phase: 'queued',
          waitingOn: 'presence',
          detail:
            'whether the executor is there is not known yet; a gateway has just started or its connection dropped',
        });
        break;
      case 'queued':
        if (waited >= QUEUE_BOUND_MS) return unavailable('busy');
        shown = turn.place;
        wait.show({
          phase: 'queued',
          waitingOn: 'executor',
          detail: `the executor is busy; place ${turn.place} in line`,
        });
        break;
    }
    await condition(wait.takeNudge, lookAgainAfter(look));
  }
}

/** Milliseconds until the next look: often at first, so that a short wait stays short; seldom later. */
function lookAgainAfter(look: number): number {
  return look < 20 ? 250 : 2_000;
}

function unavailable(reason: string): RunEnd {
  return { status: 'executor_unavailable', report: null, reason };
}
