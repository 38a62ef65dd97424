/** The table of spec/tickets.md, walked: every edge is reached, and everything that is not an edge is refused by name. */
import { describe, expect, test } from 'vitest';
import type { TicketEventType } from '../../schemas/ticket/event.ts';
import { isStopped, isTerminal, TERMINAL_PHASES, TICKET_PHASES, type TicketPhase } from '../../schemas/ticket/phase.ts';
import { EVENT_MAKERS, SAMPLES, samplesIn } from '../../test/support/ticket-fixtures.ts';
import { apply } from './apply.ts';
import { landingUnderWay } from './position.ts';
import { ANSWERS_OF_A_LANDING, targetsOf } from './table.ts';

const FRESH = 0xf5e5;
const TYPES: readonly TicketEventType[] = [...new Set(EVENT_MAKERS.map(({ type }) => type))];

const cells = TICKET_PHASES.flatMap((phase) => TYPES.map((type) => ({ phase, type, targets: targetsOf(phase, type) })));
const edges = cells.flatMap(({ phase, type, targets }) => targets.map((to) => ({ phase, type, to })));
const illegal = cells.filter(({ targets }) => targets.length === 0);

/** Every event of the type on every sample of the phase. */
function tries(phase: TicketPhase, type: TicketEventType) {
  const makers = EVENT_MAKERS.filter((maker) => maker.type === type);
  return samplesIn(phase).flatMap((state) =>
    makers.map(({ make }) => ({ state, applied: apply(state, make(state, FRESH)) })),
  );
}

describe('every edge', () => {
  test.each(edges)('$phase --$type--> $to', ({ phase, type, to }) => {
    const reached = tries(phase, type).flatMap(({ applied }) => (applied.ok ? [applied.state.phase] : []));
    expect(reached).toContain(to);
  });
});

describe('everything else', () => {
  test.each(illegal)('$phase --$type--> refused', ({ phase, type }) => {
    const tried = tries(phase, type);
    expect(tried.length).toBeGreaterThan(0);
    for (const { state, applied } of tried) {
      expect(applied.ok).toBe(false);
      if (applied.ok) continue;
      const landing = !isStopped(phase) && landingUnderWay(state) !== null && !ANSWERS_OF_A_LANDING.includes(type);
      const expected = isTerminal(phase) ? 'ticket_ended' : landing ? 'merge_in_progress' : 'ticket_phase';
      expect(applied.refusal.code).toBe(expected);
    }
  });
});

test('the table has a row for every phase, and its tests count what they walk', () => {
  expect(new Set(SAMPLES.map((state) => state.phase))).toEqual(new Set(TICKET_PHASES));
  expect(edges.length + illegal.length).toBeGreaterThan(TICKET_PHASES.length * TYPES.length - 1);
  console.log(`${edges.length} edges and ${illegal.length} illegal pairs of ${TICKET_PHASES.length} phases`);
});

test('[inv-09] nothing leaves a terminal phase', () => {
  for (const phase of TERMINAL_PHASES) expect(TYPES.flatMap((type) => targetsOf(phase, type))).toEqual([]);
});
