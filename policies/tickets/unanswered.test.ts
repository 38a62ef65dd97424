/** Landings that are under way, and those that nobody heard the end of: of the change, and of its documentation. */
import { describe, expect, test } from 'vitest';
import type { TicketEvent } from '../../schemas/ticket/event.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import {
  after,
  agentFailed,
  cancelled,
  documentationFailed,
  documentationIntended,
  documentationLanded,
  killSwitchTurned,
  landed,
  landingUnanswered,
  operatorDecided,
  TICKETS,
  workspaceEnded,
} from '../../test/support/ticket-fixtures.ts';
import { apply } from './apply.ts';
import { landingUnderWay, stepOf } from './position.ts';
import { deadlineOf, why } from './why.ts';

const refusalOf = (state: TicketState, make: (state: TicketState) => TicketEvent) => {
  const applied = apply(state, make(state));
  return applied.ok ? 'accepted' : applied.refusal.code;
};

describe('a documentation that is being landed', () => {
  const landing = TICKETS.documentationIntended;

  test('is landed by the same step as the change, with the same bound', () => {
    expect(stepOf(TICKETS.documented)).toEqual({ do: 'document' });
    expect(stepOf(landing)).toEqual({ do: 'land' });
    expect(deadlineOf(landing)).toBe(landing.since + 30 * 60_000);
  });

  test('[inv-18] holds back everything but its answer: the kill switch, operators, waits', () => {
    const held = [killSwitchTurned, operatorDecided('abandon'), cancelled, agentFailed, documentationIntended(1)];
    for (const make of held) expect(refusalOf(landing, make)).toBe('merge_in_progress');
    expect(after(landing, documentationFailed)).toMatchObject({ phase: 'documenting', documentation: null });
    expect(after(landing, documentationLanded(0xd0)).phase).toBe('done');
  });

  test('[inv-18] and what LORE submitted outlives its workspace', () => {
    for (const state of [landing, TICKETS.documented]) {
      const lost = after(state, workspaceEnded());
      expect(lost).toMatchObject({ documentation: state.documentation, revision: state.revision });
      expect(lost.execution).toEqual(state.execution);
    }
  });
});

describe.each([
  ['the change', TICKETS.intended, landed, 'documenting', 'abandoned'],
  ['its documentation', TICKETS.documentationIntended, documentationLanded(0xd0), 'done', 'done'],
] as const)('a landing of %s without an answer', (_, intended, answer, then, givenUp) => {
  const stopped = after(intended, landingUnanswered);

  test('waits for an operator with its intent, and says what to mend', () => {
    expect(stopped).toMatchObject({ phase: 'awaiting_human', stop: { cause: 'landing_unanswered' } });
    expect(landingUnderWay(stopped)).toEqual(landingUnderWay(intended));
    const { unblockedBy, sentence } = why(stopped, 0);
    expect(sentence).toContain('remote_unavailable');
    expect(unblockedBy[0]).toContain('a retry reads the branch back');
    expect(unblockedBy.some((line) => line.includes('ticket resume'))).toBe(false);
  });

  test('[inv-18] is asked again by a retry, in the same execution, for the same candidate', () => {
    const again = after(stopped, operatorDecided('retry'));
    expect(again.phase).toBe(intended.phase);
    expect(stepOf(again)).toEqual({ do: 'land' });
    expect(landingUnderWay(again)).toEqual(landingUnderWay(intended));
    expect(after(again, answer).phase).toBe(then);
  });

  test('[inv-18] is not forgotten by a new execution', () => {
    expect(refusalOf(stopped, operatorDecided('resume'))).toBe('merge_in_progress');
  });

  test.each([operatorDecided('abandon'), cancelled])('is given up by an operator, and the history says so', (end) => {
    const ended = after(stopped, end);
    expect(ended.phase).toBe(givenUp);
    expect(ended.history.at(-1)?.detail).toContain('landed is not known');
  });
});
