import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SlotsState } from '../../schemas/workspace/slots.ts';
import { applySlots, idleSlots, isStopped, NO_SLOTS, type SlotsEvent } from './slots.ts';

const holders = ['a', 'b', 'c', 'd', 'e'] as const;
const holder = fc.constantFrom(...holders);
const event: fc.Arbitrary<SlotsEvent> = fc.oneof(
  fc.record({ kind: fc.constant('request' as const), holder, capacity: fc.constantFrom(1, 2, 3) }),
  fc.record({ kind: fc.constant('held' as const), holder, capacity: fc.constantFrom(1, 2, 3) }),
  fc.record({ kind: fc.constantFrom('recorded', 'working', 'suspended', 'quarantine', 'resolved', 'lost'), holder }),
  fc.record({
    kind: fc.constant('release' as const),
    holder,
    because: fc.constantFrom('gone' as const, 'never_recorded' as const),
  }),
);

function names(list: readonly { readonly holder: string }[]): readonly string[] {
  return list.map((one) => one.holder);
}

function run(events: readonly SlotsEvent[], check: (before: SlotsState, event: SlotsEvent, after: SlotsState) => void) {
  let state = NO_SLOTS;
  events.forEach((one, at) => {
    const { state: next, effects } = applySlots(state, one, at);
    expect(names(next.holders)).toEqual(expect.arrayContaining([...effects.granted]));
    check(state, one, next);
    state = next;
  });
}

test('[inv-11] whatever is said in whatever order, a used slot is freed only by a proof or by quarantine', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      run(events, (before, one, after) => {
        for (const { holder: name, recorded } of before.holders) {
          if (!recorded || names(after.holders).includes(name)) continue;
          const proved = one.kind === 'quarantine' || (one.kind === 'release' && one.because === 'gone');
          expect(proved && one.holder === name).toBe(true);
        }
      });
    }),
    { numRuns: 2_000 },
  );
});

test('nobody is granted beyond the capacity, twice, past somebody who waits longer, or while the role is stopped', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      run(events, (before, one, after) => {
        const had = names(before.holders);
        const granted = names(after.holders).filter((name) => !had.includes(name) && one.kind !== 'held');
        if (granted.length > 0) {
          expect(after.holders.length).toBeLessThanOrEqual(after.capacity);
          expect(isStopped(after)).toBe(false);
        }
        // First come, first served: whoever still waits came after whoever was granted.
        const line = names(before.waiting).includes(one.holder)
          ? names(before.waiting)
          : [...names(before.waiting), one.holder];
        const left = line.filter((name) => granted.includes(name) || names(after.waiting).includes(name));
        expect(left.slice(0, granted.length).toSorted()).toEqual(granted.toSorted());
        for (const list of [after.holders, after.waiting, after.quarantined]) {
          expect(new Set(names(list)).size).toBe(list.length);
        }
        expect(names(after.waiting).some((name) => names(after.holders).includes(name))).toBe(false);
        // Nobody waits while a slot is idle.
        if (!isStopped(after) && after.waiting.length > 0) expect(idleSlots(after)).toBe(0);
      });
    }),
    { numRuns: 400 },
  );
});

test('what is carried when the workflow continues as new is the whole state', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), fc.array(event, { maxLength: 10 }), (before, after) => {
      const play = (from: SlotsState, events: readonly SlotsEvent[]) =>
        events.reduce((state, one, at) => applySlots(state, one, at).state, from);
      const state = play(NO_SLOTS, before);
      const carried = JSON.parse(JSON.stringify(state)) as SlotsState;
      expect(play(carried, after)).toEqual(play(state, after));
    }),
    { numRuns: 500 },
  );
});

test('a holder that asks again is told again and gets no second slot', () => {
  const first = applySlots(NO_SLOTS, { kind: 'request', holder: 'a', capacity: 2 }, 1);
  const again = applySlots(first.state, { kind: 'request', holder: 'a', capacity: 2 }, 2);
  expect(again.effects).toEqual({ granted: ['a'], changed: false });
  expect(again.state.holders).toHaveLength(1);
});

test('less capacity takes nobody’s slot away, and nobody else gets one until there is room', () => {
  const ask = (name: string, capacity: number): SlotsEvent => ({ kind: 'request', holder: name, capacity });
  const play = (...events: readonly SlotsEvent[]) =>
    events.reduce((state, one) => applySlots(state, one, 0).state, NO_SLOTS);
  const fewer = play(ask('a', 2), ask('b', 2), ask('c', 1));
  expect(names(fewer.holders)).toEqual(['a', 'b']);
  const one = applySlots(fewer, { kind: 'release', holder: 'a', because: 'never_recorded' }, 0);
  expect(names(one.state.waiting)).toEqual(['c']);
  const none = applySlots(one.state, { kind: 'release', holder: 'b', because: 'gone' }, 0);
  expect(none.effects.granted).toEqual(['c']);
});
