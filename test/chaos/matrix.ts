/** Which process is killed in which phase: a Latin square, so that as many tickets as there are processes see every pair once. */
import { WORK_PHASES, type WorkPhase } from '../../schemas/ticket/phase.ts';
import { PART_NAMES, type PartName } from '../../local/state.ts';

/** Every part of the stack, and a process inside a workspace of the phase. */
export const VICTIMS = [...PART_NAMES, 'workspace'] as const;
export type Victim = PartName | 'workspace';

export interface PlannedKill {
  readonly phase: WorkPhase;
  readonly victim: Victim;
  /** After the phase was entered: another moment of it with each seed. Milliseconds. */
  readonly delayMs: number;
}

/** A phase that lasts as long as one push to the remote leaves no time to wait. */
const LONGEST_DELAY_MS: Readonly<Partial<Record<WorkPhase, number>>> = { merging: 0 };
const DELAY_MS = 600;

/** The kills of ticket `k`, in the order of the phases. */
export function killsOf(k: number, seed: number): readonly PlannedKill[] {
  const random = randomOf(seed * 1_000 + k);
  const order = shuffled(VICTIMS, randomOf(seed));
  return WORK_PHASES.map((phase, index) => ({
    phase,
    victim: order[(index + k) % order.length] ?? 'workspace',
    delayMs: Math.floor(random() * (LONGEST_DELAY_MS[phase] ?? DELAY_MS)),
  }));
}

function shuffled<T>(members: readonly T[], random: () => number): readonly T[] {
  const keyed = members.map((member) => ({ member, at: random() }));
  return keyed.toSorted((a, b) => a.at - b.at).map(({ member }) => member);
}

/** The same numbers for the same seed (mulberry32); from 0 to below 1. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
