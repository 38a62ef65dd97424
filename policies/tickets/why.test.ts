import { expect, test } from 'vitest';
import { isStopped, isTerminal } from '../../schemas/ticket/phase.ts';
import { SAMPLES, TICKETS } from '../../test/support/ticket-fixtures.ts';
import { ticketLine, ticketPage } from './summary.ts';
import { deadlineOf, why } from './why.ts';

test('[inv-16] every ticket that has not ended says what it waits for, since when, until when and what would unblock it', () => {
  for (const state of SAMPLES) {
    const answer = why(state, state.since + 5_000);
    expect(answer.sentence.length).toBeGreaterThan(10);
    expect(answer.waited).toBe(5_000);
    const ended = isTerminal(state.phase);
    expect(answer.unblockedBy.length > 0).toBe(!ended);
    expect(answer.until === null).toBe(ended || isStopped(state.phase));
    if (!ended) expect(answer.waitingOn).not.toBe('nothing');
  }
});

test('a stopped ticket says why it stopped and what to mend first', () => {
  const stopped = SAMPLES.find((state) => state.stop?.cause === 'kill_switch');
  if (stopped === undefined) throw new Error('no sample is stopped by the kill switch');
  const answer = why(stopped, stopped.since);
  expect(answer.sentence).toBe('The kill switch is on. (drill)');
  expect(answer.unblockedBy[0]).toBe('portcullis kill-switch off --reason …');
});

test('a clock that stands behind the last event shows no negative wait', () => {
  expect(why(TICKETS.planning, 0).waited).toBe(0);
});

test('the line names segment and round, the page survives a hostile title', () => {
  expect(ticketLine(TICKETS.secondSegment)).toBe('T-048 building 2/2 round 1');
  expect(ticketLine(TICKETS.planReview)).toBe('T-048 plan_review round 1');
  const page = ticketPage(TICKETS.merging, 'x\n# **owned** <script>', TICKETS.merging.since);
  expect(page.split('\n')[0]).toBe('**T-048 merging round 1**: x \\# \\*\\*owned\\*\\* \\<script\\>');
  expect(page).toContain('Waiting on: **merge**');
  expect(page).toContain('| merge |');
});

test('the deadline is the bound of what it waits for', () => {
  expect(deadlineOf(TICKETS.planVerified)).toBe(TICKETS.planVerified.since + 15 * 60_000);
});
