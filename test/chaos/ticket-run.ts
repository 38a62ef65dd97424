/** One ticket from plan to merged change, over a kill in each of its phases. */
import { setTimeout as delay } from 'node:timers/promises';
import { WORK_PHASES, isTerminal, type TicketPhase, type WorkPhase } from '../../schemas/ticket/phase.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import { ENDS, ONE_SEGMENT, startTicket, untilPhase, untilTicket, type StartedTicket } from '../e2e/tickets.ts';
import type { Stack } from '../e2e/stage.ts';
import { untilAtWork } from './inside.ts';
import type { PlannedKill, Victim } from './matrix.ts';

export interface Kill extends PlannedKill {
  /** What was killed: of a workspace, which process of whose. */
  readonly what: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** From the kill until everything served again. Milliseconds. */
  readonly backMs: number;
}

/** `late`: the ticket had gone on when the kill came; `missed`: the phase was over before anybody saw it. */
export interface Cell {
  readonly phase: WorkPhase;
  readonly victim: Victim;
  readonly hit: 'in_phase' | 'late' | 'missed';
  readonly kill: Kill | null;
}

export interface TicketRun {
  readonly ticket: StartedTicket;
  readonly cells: readonly Cell[];
  /** Where it ended. */
  readonly state: TicketState;
  readonly seconds: number;
}

/** Longer than a ticket in which each wait for a dead executor runs its whole course. */
const END_MS = 300_000;

/** @throws Error naming the kills so far when the ticket does not come to its end */
export async function runTicket(
  stack: Stack,
  id: string,
  kills: readonly PlannedKill[],
  say: (text: string) => void,
): Promise<TicketRun> {
  const began = performance.now();
  const ticket = await startTicket(stack, id, ONE_SEGMENT);
  const done: Kill[] = [];
  try {
    for (const planned of kills) {
      const seen = await untilPhaseOrLater(stack, id, planned.phase);
      if (seen !== planned.phase) {
        say(`${id} ${planned.phase}: ${planned.victim} missed, the ticket is ${seen}`);
        continue;
      }
      const kill = await killOne(stack, id, planned);
      done.push(kill);
      say(`${id} ${planned.phase}: killed ${kill.what}, everything is back after ${kill.backMs} ms`);
    }
    const { state } = await untilPhase(stack, id, ['done'], END_MS);
    const cells = kills.map((planned) => cellOf(planned, done, state));
    return { ticket, cells, state, seconds: (performance.now() - began) / 1000 };
  } catch (thrown) {
    const told = done.map(({ phase, what }) => `${what} in ${phase}`).join(', ');
    throw new Error(`${thrown instanceof Error ? thrown.message : String(thrown)}; killed so far: ${told}`, {
      cause: thrown,
    });
  }
}

/** A ticket that was sent back comes by again, so only what lies behind for good counts as missed. */
async function untilPhaseOrLater(stack: Stack, id: string, wanted: WorkPhase): Promise<TicketPhase> {
  const rank = (phase: TicketPhase) => (isTerminal(phase) ? WORK_PHASES.length : indexOf(phase));
  const { state } = await untilTicket(
    stack,
    id,
    `to be in ${wanted}`,
    ({ state: { phase } }) => rank(phase) >= indexOf(wanted) || ENDS.some((end) => end === phase),
    END_MS,
  );
  if (state.stop !== null) throw new Error(`${id} is ${state.phase}: ${state.stop.cause}: ${state.stop.detail}`);
  return state.phase;
}

function indexOf(phase: TicketPhase): number {
  return (WORK_PHASES as readonly TicketPhase[]).indexOf(phase);
}

async function killOne(stack: Stack, id: string, planned: PlannedKill): Promise<Kill> {
  const { phase, victim, delayMs } = planned;
  if (victim !== 'workspace') {
    await delay(delayMs);
    const at = Date.now();
    await stack.killAndAwait(victim);
    return { ...planned, what: victim, at, backMs: Date.now() - at };
  }
  const { pid, role, kind } = await untilAtWork('local', id, phase);
  const at = Date.now();
  process.kill(pid, 'SIGKILL');
  return { ...planned, what: `${kind} of ${role}`, at, backMs: 0 };
}

function cellOf({ phase, victim }: PlannedKill, kills: readonly Kill[], { history }: TicketState): Cell {
  const kill = kills.find((one) => one.phase === phase) ?? null;
  if (kill === null) return { phase, victim, hit: 'missed', kill };
  const at = history.findLast((entry) => entry.at <= kill.at)?.to ?? 'planning';
  return { phase, victim, hit: at === phase ? 'in_phase' : 'late', kill };
}
