/**
 * The fair durable semaphore of a role, as a pure reducer (spec/tickets.md, Slots). A slot that was used is freed only by a proof
 * that its workspace is gone or quarantined; one that never was is freed at once. That proof ends a quarantine as well.
 */
import {
  QUARANTINE_LIMIT,
  type SlotHolder,
  type SlotsMessage,
  type SlotsState,
  type SlotState,
} from '../../schemas/workspace/slots.ts';

/** What a step makes known. `granted` may be said again to a holder that asks again. */
export interface SlotsEffects {
  readonly granted: readonly string[];
  /** Whether anything changed that lists and waiting holders show. */
  readonly changed: boolean;
}

export interface SlotsStep {
  readonly state: SlotsState;
  readonly effects: SlotsEffects;
}

/** `lost`: a holder that could not be told its grant, because it is closed. */
export type SlotsEvent = SlotsMessage | { readonly kind: 'lost'; readonly holder: string };

export const NO_SLOTS: SlotsState = { capacity: 0, holders: [], waiting: [], quarantined: [] };

/** Too many of this role cannot be destroyed: none is made until an operator looked (invariant 11). */
export function isStopped(state: SlotsState): boolean {
  return state.quarantined.length >= QUARANTINE_LIMIT;
}

export function idleSlots(state: SlotsState): number {
  return Math.max(0, state.capacity - state.holders.length);
}

/** @param now milliseconds since the epoch */
export function applySlots(state: SlotsState, event: SlotsEvent, now: number): SlotsStep {
  const next = take(state, event, now);
  const asked = event.kind === 'request' && holds(state, event.holder) ? [event.holder] : [];
  const filled = grant(next, now);
  return {
    state: filled.state,
    effects: { granted: [...asked, ...filled.granted], changed: filled.state !== state },
  };
}

function take(state: SlotsState, event: SlotsEvent, now: number): SlotsState {
  const { holder } = event;
  switch (event.kind) {
    case 'request':
      return queued(withCapacity(state, event.capacity), holder, now);
    case 'held':
      return held(withCapacity(state, event.capacity), holder, now);
    case 'recorded':
      return moved(state, holder, { recorded: true });
    case 'working':
      return moved(state, holder, { state: 'working' });
    case 'suspended':
      return moved(state, holder, { state: 'suspended' });
    case 'release':
      return event.because === 'gone' ? gone(state, holder) : released(state, holder);
    case 'lost':
      return released(state, holder);
    case 'quarantine':
      return quarantined(state, holder, now);
    case 'resolved':
      return resolved(state, holder);
  }
}

function queued(state: SlotsState, holder: string, now: number): SlotsState {
  const known = holds(state, holder) || state.waiting.some((one) => one.holder === holder);
  return known ? state : { ...state, waiting: [...state.waiting, { holder, since: now }] };
}

/** Capacity is the registry's; less of it takes nobody's slot away. */
function withCapacity(state: SlotsState, capacity: number): SlotsState {
  return capacity === state.capacity ? state : { ...state, capacity };
}

/** What exists is counted, even above the capacity: it is there. */
function held(state: SlotsState, holder: string, now: number): SlotsState {
  if (holds(state, holder) || state.quarantined.some((one) => one.holder === holder)) return state;
  const waiting = state.waiting.filter((one) => one.holder !== holder);
  return { ...state, waiting, holders: [...state.holders, { holder, state: 'working', recorded: true, since: now }] };
}

function moved(
  state: SlotsState,
  holder: string,
  change: { readonly recorded?: true; readonly state?: SlotState },
): SlotsState {
  if (!holds(state, holder)) return state;
  const holders = state.holders.map((one): SlotHolder => (one.holder === holder ? { ...one, ...change } : one));
  return { ...state, holders };
}

function released(state: SlotsState, holder: string): SlotsState {
  const held = state.holders.find((one) => one.holder === holder);
  return held?.recorded === true ? state : without(state, holder);
}

/** Wherever it is: what quarantined it may have ended before it could say that it is resolved. */
function gone(state: SlotsState, holder: string): SlotsState {
  return resolved(without(state, holder), holder);
}

function resolved(state: SlotsState, holder: string): SlotsState {
  const quarantined = state.quarantined.filter((one) => one.holder !== holder);
  return quarantined.length === state.quarantined.length ? state : { ...state, quarantined };
}

function without(state: SlotsState, holder: string): SlotsState {
  const holders = state.holders.filter((one) => one.holder !== holder);
  const waiting = state.waiting.filter((one) => one.holder !== holder);
  const same = holders.length === state.holders.length && waiting.length === state.waiting.length;
  return same ? state : { ...state, holders, waiting };
}

function quarantined(state: SlotsState, holder: string, now: number): SlotsState {
  if (state.quarantined.some((one) => one.holder === holder)) return state;
  return { ...without(state, holder), quarantined: [...state.quarantined, { holder, since: now }] };
}

function grant(state: SlotsState, now: number): { readonly state: SlotsState; readonly granted: readonly string[] } {
  const free = isStopped(state) ? 0 : idleSlots(state);
  const next = state.waiting.slice(0, free);
  if (next.length === 0) return { state, granted: [] };
  const granted = next.map(({ holder }): SlotHolder => ({ holder, state: 'leased', recorded: false, since: now }));
  return {
    state: { ...state, holders: [...state.holders, ...granted], waiting: state.waiting.slice(free) },
    granted: next.map(({ holder }) => holder),
  };
}

function holds(state: SlotsState, holder: string): boolean {
  return state.holders.some((one) => one.holder === holder);
}
