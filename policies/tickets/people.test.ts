/** People at gates, and landings that an operator has to rule on: what the reducer makes of either. */
import { describe, expect, test } from 'vitest';
import type { TicketEvent } from '../../schemas/ticket/event.ts';
import type { TicketState } from '../../schemas/ticket/state.ts';
import {
  after,
  documentationLanded,
  gateDecided,
  landedWith,
  operatorDecided,
  personDecided,
  reviewed,
  segmentSubmitted,
  TICKETS,
} from '../../test/support/ticket-fixtures.ts';
import { apply } from './apply.ts';
import { stepOf } from './position.ts';
import { why } from './why.ts';

/** The same gate event with this as its first reason. */
const because =
  (decision: 'human_required' | 'blocked' | 'rework', reason: string) =>
  (state: TicketState): TicketEvent => {
    const event = gateDecided(decision)(state);
    return event.type === 'gateDecided' ? { ...event, reasons: [reason] } : event;
  };
const absent = because('human_required', 'human_absent:human_missing:operator');

const refusalOf = (state: TicketState, event: TicketEvent) => {
  const applied = apply(state, event);
  return applied.ok ? null : applied.refusal;
};

describe('a gate that asks for a person', () => {
  const held = after(TICKETS.planVerified, absent);

  test('says the command that unblocks it, and after the record that a retry is all', () => {
    expect(why(held, 0).unblockedBy.slice(0, 2)).toEqual([
      'portcullis gate decide T-048 --decision approve --reason …',
      'portcullis ticket decide T-048 --decision retry --reason …',
    ]);
    const recorded = after(held, personDecided());
    expect(recorded).toMatchObject({ phase: 'awaiting_human', revision: held.revision });
    expect(why(recorded, 0).unblockedBy[0]).toContain('1 recorded');
  });

  test('is evaluated again on the same subject, by a new evaluation, with the record in its evidence', () => {
    const again = after(held, personDecided(), operatorDecided('retry'));
    expect(again).toMatchObject({ phase: 'plan_review', review: { subjectDigest: held.review?.subjectDigest } });
    expect(again.review?.n).toBeGreaterThan(held.review?.n ?? 0);
    expect(stepOf(again)).toEqual({ do: 'decide', gate: 'plan' });
    expect(after(again, gateDecided()).phase).toBe('building');
  });

  test.each([
    ['another subject', { subjectDigest: `sha256:${'6'.repeat(64)}` }],
    ['another gate', { gate: 'merge' }],
  ] as const)('takes nothing about %s', (_, change) => {
    const event = personDecided()(held);
    if (event.type !== 'personDecided') throw new Error('another event');
    expect(refusalOf(held, { ...event, ...change })?.code).toBe('ticket_mismatch');
  });

  test('takes nothing that was decided on another revision, and nothing where no subject is judged', () => {
    const event = personDecided()(held);
    if (event.type !== 'personDecided') throw new Error('another event');
    expect(refusalOf(held, { ...event, revision: event.revision - 1 })?.code).toBe('ticket_stale');
    expect(refusalOf(TICKETS.planReview, personDecided()(TICKETS.planReview))?.code).toBe('ticket_mismatch');
    expect(refusalOf(TICKETS.building, personDecided()(TICKETS.building))?.code).toBe('ticket_phase');
  });

  test('[inv-04] is judged anew in a new execution, with nothing that the person said', () => {
    const resumed = after(held, personDecided(), operatorDecided('resume'));
    expect(resumed.review).toMatchObject({ subjectDigest: null, people: [] });
  });
});

test('a reviewer who asks for a person leaves what was judged: with a record it is evaluated, without one looked at again', () => {
  const asked = after(TICKETS.planReview, reviewed('human'));
  expect(asked).toMatchObject({ phase: 'awaiting_human', stop: { cause: 'reviewer_asked' } });
  expect(why(asked, 0).unblockedBy[0]).toContain('gate decide T-048 --decision override --case inconclusive');
  expect(stepOf(after(asked, operatorDecided('retry')))).toEqual({ do: 'verify', gate: 'plan' });
  const again = after(asked, personDecided('override'), operatorDecided('retry'));
  expect(stepOf(again)).toEqual({ do: 'decide', gate: 'plan' });
  expect(after(again, gateDecided('pass', true)).phase).toBe('building');
  expect(after(again, gateDecided('pass')).stop?.cause).toBe('verdict_contradicts_gate');
});

describe('a gate that cannot judge', () => {
  const blocked = after(TICKETS.segmentVerified, because('blocked', 'inconclusive:check_not_tested:tests'));

  test('is verified anew by a retry, and evaluated again on the same subject once a person overrode the case', () => {
    expect(why(blocked, 0).unblockedBy[0]).toContain('gate decide T-048 --decision override --case inconclusive');
    expect(stepOf(after(blocked, operatorDecided('retry')))).toEqual({ do: 'verify', gate: 'segment' });
    const again = after(blocked, personDecided('override'), operatorDecided('retry'));
    expect(stepOf(again)).toEqual({ do: 'decide', gate: 'segment' });
    // One evaluation for what is new: what it leaves blocked is verified anew by the next retry.
    const still = after(again, gateDecided('blocked'), operatorDecided('retry'));
    expect(stepOf(still)).toEqual({ do: 'verify', gate: 'segment' });
  });
});

describe('people who overrule a reviewer', () => {
  test('a pass that rests on their override goes on; one that does not stops for a person', () => {
    expect(after(TICKETS.planRejected, gateDecided('pass', true)).phase).toBe('building');
    expect(after(TICKETS.planRejected, gateDecided('pass')).stop?.cause).toBe('verdict_contradicts_gate');
  });

  /** Sent back until the bound, at the gate. */
  function exhausted(of: 'plan' | 'merge'): TicketState {
    const state = of === 'plan' ? TICKETS.planRejected : after(TICKETS.reviewReady, reviewed('retry_producer'));
    const rounds = { ...state.attempts.rounds, [of]: 2 };
    return after({ ...state, attempts: { ...state.attempts, rounds } }, gateDecided('rework'));
  }

  test.each(['plan', 'merge'] as const)('at the bound of the %s, exactly what was judged is evaluated again', (of) => {
    const state = exhausted(of);
    expect(state).toMatchObject({ phase: 'awaiting_human', stop: { cause: 'rounds_exhausted' } });
    const again = after(state, personDecided('override'), operatorDecided('retry'));
    expect(stepOf(again)).toEqual({ do: 'decide', gate: of });
    expect(again.candidate).toEqual(state.candidate);
    expect(after(again, gateDecided('pass', true)).phase).toBe(of === 'plan' ? 'building' : 'merging');
  });

  test.each(['retry', 'resume'] as const)(
    'without them, a %s builds the last segment again and lands no candidate',
    (decision) => {
      const state = after(exhausted('merge'), operatorDecided(decision));
      expect(state).toMatchObject({ phase: 'building', candidate: null, review: null });
      expect(stepOf(state)).toMatchObject({ do: 'produce', what: 'segment' });
      expect(apply(state, segmentSubmitted(Number.parseInt(state.head, 16))(state)).ok).toBe(false);
    },
  );
});

describe('a landing under which authority changed', () => {
  const landed = after(TICKETS.intended, landedWith('landing-1'));

  test('stays landed and waits for an operator', () => {
    expect(landed).toMatchObject({
      phase: 'awaiting_human',
      merge: { state: 'landed' },
      stop: { cause: 'landing_incident', detail: 'landing-1' },
      resumePhase: 'documenting',
    });
    expect(why(landed, 0).unblockedBy[0]).toContain('incident resolve landing-1 --ruling close');
  });

  test.each([
    ['retry', 'documenting'],
    ['resume', 'documenting'],
    ['abandon', 'done'],
  ] as const)('%s leads to %s', (decision, phase) => {
    expect(after(landed, operatorDecided(decision))).toMatchObject({ phase, merge: { state: 'landed' } });
  });

  test.each(['retry', 'resume'] as const)(
    'of a documentation: after the %s it has landed, and is not asked for again',
    (decision) => {
      const stopped = after(TICKETS.documenting, documentationLanded(0xd0c, 'landing-2'));
      expect(stopped.phase).toBe('awaiting_human');
      const ruled = after(stopped, operatorDecided(decision));
      expect(ruled.documentation).toMatchObject({ landed: true });
      expect(after(ruled, documentationLanded(0xd0c)).phase).toBe('done');
    },
  );
});
