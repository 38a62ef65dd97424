import { expect, test } from 'vitest';
import type { TicketPhase } from '../../schemas/ticket/phase.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import type { Apply } from '../../test/support/ticket-fixtures.ts';
import { searchTickets, TICKET_PROPERTIES, type TicketProperty } from '../../test/support/ticket-properties.ts';
import { apply } from './apply.ts';
import { EDGES } from './table.ts';

const SEED = 20_261_201;

test('[inv-04] [inv-09] [inv-16] 10,000 random sequences of events hold every property', { timeout: 60_000 }, () => {
  const { sequences, events, accepted, broken } = searchTickets(apply, 10_000, SEED);
  console.log(`${sequences} sequences, ${events} events, ${accepted} accepted`);
  expect(broken).toEqual({});
  expect(accepted).toBeGreaterThan(events / 4);
});

/** A reducer with one thing wrong, and the property that has to notice. */
const changing =
  (change: (after: TicketState, before: TicketState) => TicketState): Apply =>
  (before, event) => {
    const answer = apply(before, event);
    return answer.ok ? { ...answer, state: change(answer.state, before) } : answer;
  };

const MUTANTS: Readonly<Record<TicketProperty, Apply>> = {
  'terminal is absorbing': (state, event) =>
    state.phase === 'abandoned' && event.type === 'operatorDecided'
      ? {
          ok: true,
          state: { ...state, phase: 'planning', revision: state.revision + 1, waitingOn: 'plan' },
          detail: '',
        }
      : apply(state, event),
  'a refusal has a code and a stale decision is refused': (state, event) =>
    apply(state, 'revision' in event ? { ...event, revision: state.revision } : event),
  'the revision grows by one for each transition, and only then': changing((after, before) =>
    after.phase === 'segment_review' ? { ...after, revision: before.revision } : after,
  ),
  'nothing is landed without a pass of exactly that candidate in this execution': (state, event) =>
    event.type === 'mergeIntended' && state.phase === 'merging'
      ? apply(
          { ...state, passes: state.passes.map((pass) => ({ ...pass, candidate: event.candidate })) },
          { ...event, candidate: state.candidate?.commit ?? event.candidate },
        )
      : event.type === 'gateDecided' && state.phase === 'review_ready' && event.decision === 'rework'
        ? apply(state, { ...event, decision: 'pass' })
        : apply(state, event),
  'nothing of one execution authorises the next': changing((after, before) =>
    after.execution.generation > before.execution.generation ? { ...after, passes: before.passes } : after,
  ),
  'what rested on a changed plan or head is gone': changing((after, before) =>
    after.head === before.head ? after : { ...after, passes: before.passes },
  ),
  'every bound holds, and a person comes after it': (state, event) => {
    const answer = apply({ ...state, attempts: { ...state.attempts, tests: 0 } }, event);
    if (!answer.ok || event.type !== 'candidateTested' || event.status !== 'not_tested') return answer;
    const attempts = { ...answer.state.attempts, tests: state.attempts.tests + 1 };
    return { ...answer, state: { ...answer.state, attempts } };
  },
  // Only the latest is known.
  'an unchanged candidate is never judged again after it was sent back': changing((after) => ({
    ...after,
    rejected: after.rejected.slice(-1),
  })),
  'what it waits for is always said': changing((after) =>
    after.phase === 'merging' ? { ...after, waitingOn: 'nothing' } : after,
  ),
  'every list is bounded': changing((after, before) => ({
    ...after,
    workspaces:
      after.workspaces.length < before.workspaces.length
        ? [...before.workspaces, ...after.workspaces]
        : after.workspaces,
  })),
};

test.each(Object.keys(TICKET_PROPERTIES))('the search notices a reducer without: %s', (name) => {
  const mutant = Object.entries(MUTANTS).find(([property]) => property === name)?.[1];
  if (mutant === undefined) throw new Error(`no mutant is planted for ${name}`);
  const { broken } = searchTickets(mutant, 400, SEED);
  expect(Object.keys(broken)).toContain(name);
});

test('the table names only phases there are', () => {
  const targets = Object.values(EDGES).flatMap((row) => Object.values(row).flat());
  expect(new Set<TicketPhase>(targets).size).toBeGreaterThan(10);
});
