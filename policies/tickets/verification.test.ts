import { describe, expect, test } from 'vitest';
import type { TicketState } from '../../schemas/ticket/state.ts';
import type { VerificationOutcome } from '../../schemas/verification/workflow.ts';
import { after, gateDecided, operatorDecided, personDecided, TICKETS } from '../../test/support/ticket-fixtures.ts';
import { stepOf } from './position.ts';
import { eventOfReview } from './verification.ts';
import { why } from './why.ts';

type Checked = Extract<VerificationOutcome, { readonly outcome: 'checked' }>;

const SATISFIED: Checked = {
  outcome: 'checked',
  refs: ['e-1'],
  checks: [{ check: 'tests', status: 'satisfied', taskId: 'task' }],
  runs: [],
};

/** The event of a review that came to this, as it happens to the ticket. */
const came = (outcome: VerificationOutcome) => (state: TicketState) => {
  const { revision, review, since } = state;
  const subjectDigest = `sha256:${'5'.repeat(64)}`;
  return eventOfReview({ revision, at: since + 1, n: review?.n ?? 0, subjectDigest }, outcome);
};

describe('a review that what is on record has decided already', () => {
  const tampered: Checked = {
    ...SATISFIED,
    settled: true,
    hits: [{ code: 'evidence_missing_record', ref: 'e-0' }],
  };

  test('[inv-02] tampered evidence is the gate’s to judge, which blocks: no executor is blamed and nothing is tried again', () => {
    const judged = after(TICKETS.planReview, came(tampered));
    expect(judged.review).toMatchObject({ route: 'retry_producer', subjectDigest: expect.any(String) as string });
    expect(judged.attempts.providerFailures).toBe(0);
    const blocked = after(judged, gateDecided('blocked'));
    expect(blocked).toMatchObject({ phase: 'blocked', stop: { cause: 'gate_blocked' } });
  });

  test('[inv-02] so is a failure of before that a newer pass stands beside', () => {
    const unstable: Checked = { ...SATISFIED, settled: true, hits: [{ code: 'check_failed', ref: 'tests' }] };
    expect(came(unstable)(TICKETS.planReview)).toMatchObject({ type: 'reviewed', failureClass: 'check-failed' });
  });

  test('[inv-02] and what nobody can read any more', () => {
    const unreadable: Checked = { outcome: 'checked', settled: true, refs: [], checks: [], runs: [] };
    expect(came(unreadable)(TICKETS.planReview)).toMatchObject({
      ...{ type: 'reviewed', route: 'retry_producer', failureClass: 'record-unreadable' },
    });
  });
});

test('[inv-07] checks without an answer, and no word that anything is settled, are no review', () => {
  expect(came(SATISFIED)(TICKETS.planReview)).toMatchObject({
    ...{ type: 'verificationUnavailable', reason: 'executor_unavailable' },
  });
});

test('[inv-07] a verdict that nobody could read, twice, is not what a reviewer said: the person is told so and finds what was judged', () => {
  const unread: VerificationOutcome = {
    ...{ outcome: 'reviewed', route: 'human', unreadable: true, failureClass: null, reviewDigest: 'sha256:7' },
    ...{ refs: [], checks: [], runs: [] },
  };
  const stopped = after(TICKETS.planReview, came(unread));
  expect(stopped).toMatchObject({ phase: 'awaiting_human', stop: { cause: 'unparseable_verdict' }, lineage: [] });
  expect(why(stopped, 0).unblockedBy[0]).toContain('another reviewer looks');
  const again = after(stopped, personDecided('override'), operatorDecided('retry'));
  expect(stepOf(again)).toEqual({ do: 'decide', gate: 'plan' });
});
