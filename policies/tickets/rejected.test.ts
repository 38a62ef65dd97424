/** What was sent back is not judged again, and what was not, may be. */
import { describe, expect, test } from 'vitest';
import type { RefusalCode, TicketState } from '../../schemas/ticket/state.ts';
import type { TicketEvent } from '../../schemas/ticket/event.ts';
import {
  after,
  BASE,
  candidateMade,
  candidateTested,
  commit,
  gateDecided,
  killSwitchTurned,
  operatorDecided,
  personDecided,
  planSubmitted,
  readySubmitted,
  reviewed,
  segmentSubmitted,
  TICKETS,
  treeOf,
  workspaceEnded,
} from '../../test/support/ticket-fixtures.ts';
import { apply } from './apply.ts';
import { hangsOnBase } from './rejected.ts';

type Make = (state: TicketState) => TicketEvent;

function refusalOf(state: TicketState, make: Make): RefusalCode | 'accepted' {
  const applied = apply(state, make(state));
  return applied.ok ? 'accepted' : applied.refusal.code;
}

const sendBack = [reviewed('retry_producer'), gateDecided('rework')] as const;
const pass = [reviewed(), gateDecided()] as const;

/** A was rejected, then B. */
const aThenB = after(TICKETS.building, segmentSubmitted(0xa), ...sendBack, segmentSubmitted(0xb), ...sendBack);

test.each<[string, Make]>([
  ['after another one in between', segmentSubmitted(0xa)],
  ['with another message, or an empty commit on top', segmentSubmitted(0xc, 0xa)],
  ['the latest, in another commit', segmentSubmitted(0xc, 0xb)],
])('[inv-02] a rejected segment finds no second reviewer: %s', (_, make) => {
  expect(refusalOf(aThenB, make)).toBe('candidate_unchanged');
});

test('[inv-02] nor does a rejected plan, whatever its commit, after another one in between', () => {
  const planned = after(TICKETS.planReview, ...sendBack, planSubmitted(2), ...sendBack);
  const digest = TICKETS.planReview.plan?.digest ?? '';
  const wrapped: Make = (state) =>
    ({ ...planSubmitted()(state), plan: { commit: commit(9), digest, segments: 2 } }) as TicketEvent;
  expect(refusalOf(planned, planSubmitted(1))).toBe('candidate_unchanged');
  expect(refusalOf(planned, wrapped)).toBe('candidate_unchanged');
  expect(refusalOf(planned, planSubmitted(3))).toBe('accepted');
});

test('[inv-02] nor does a segment whose merge candidate was rejected, or that was rejected before it passed otherwise', () => {
  const rejected = after(
    TICKETS.secondSegment,
    ...[segmentSubmitted(0xa), ...sendBack, segmentSubmitted(0xb), ...pass],
    ...[readySubmitted, candidateMade(), candidateTested(), ...sendBack],
  );
  expect(rejected.phase).toBe('building');
  expect(refusalOf(rejected, segmentSubmitted(0xd, 0xa))).toBe('candidate_unchanged');
  expect(refusalOf(rejected, segmentSubmitted(0xd, 0xb))).toBe('candidate_unchanged');
  expect(refusalOf(rejected, segmentSubmitted(0xd))).toBe('accepted');
});

test('another segment may contain what was rejected of the one before, or what was accepted earlier', () => {
  const next = after(aThenB, segmentSubmitted(0xc), ...pass);
  expect(next.segment?.n).toBe(2);
  expect(refusalOf(next, segmentSubmitted(0xe, 0xa))).toBe('accepted');
  expect(refusalOf(next, segmentSubmitted(0xe, 0xc))).toBe('accepted');
});

test('what contradicts the base may be kept as it is on top of the new base', () => {
  const conflicted: Make = ({ revision, since }) => ({
    ...{ type: 'candidateConflicted', revision, at: since, actor: 'git', base: BASE, paths: ['a.js'] },
  });
  const back = after(TICKETS.testing, conflicted);
  expect(refusalOf(back, segmentSubmitted(0x52))).toBe('candidate_unchanged');
  expect(refusalOf(back, segmentSubmitted(0x53, 0x52))).toBe('accepted');
});

test('what people overruled is not rejected any more: it can be judged again in a new execution', () => {
  const { rounds } = TICKETS.segmentReview.attempts;
  const last = {
    ...TICKETS.segmentReview,
    attempts: { ...TICKETS.segmentReview.attempts, rounds: { ...rounds, segment: 2 } },
  };
  const held = after(last, ...sendBack);
  expect(held.stop?.cause).toBe('rounds_exhausted');
  expect(held.rejected).toHaveLength(1);
  const again = after(held, personDecided('override'), operatorDecided('retry'), gateDecided('pass', true));
  expect(again).toMatchObject({ phase: 'building', rejected: [] });
});

test('the last segment is judged again as it is when its workspace is lost: nobody rejected it', () => {
  const lost = after(TICKETS.built, workspaceEnded());
  expect(refusalOf(lost, segmentSubmitted(0x52))).toBe('accepted');
});

const ciFailed: Make = ({ revision, since }) => ({
  ...{ type: 'ciReported', revision, at: since, actor: 'ci', state: 'fail' },
});

/** The last segment is 0x52. */
describe.each([
  ['the tests of its candidate', after(TICKETS.withCandidate, candidateTested('failed'))],
  ['the continuous integration', after(TICKETS.withPullRequest, ciFailed)],
])('what %s sent back', (_, back) => {
  test.each([0x52, 0x53])('[inv-02] is the same on the same base, or where nobody looked at the base: %s', (head) => {
    expect(refusalOf(back, segmentSubmitted(head, 0x52, BASE))).toBe('candidate_unchanged');
    expect(refusalOf(back, segmentSubmitted(head, 0x52))).toBe('candidate_unchanged');
  });

  test.each([0x52, 0x53])('is another candidate once the base moved: %s', (head) => {
    expect(hangsOnBase(back, { commit: commit(head), content: treeOf(0x52) })).toBe(true);
    const again = after(back, segmentSubmitted(head, 0x52, commit(0xba5f)));
    expect(again.phase).toBe('segment_review');
    // That it is good by itself says nothing about the base on which it failed.
    expect(refusalOf(after(again, ...pass), readySubmitted)).toBe('accepted');
    expect(after(again, ...pass).rejected).toEqual(back.rejected);
  });

  test.each(['retry', 'resume'] as const)('is tested once more when an operator says %s', (decision) => {
    const sentOn = after(back, killSwitchTurned, operatorDecided(decision));
    expect(refusalOf(sentOn, segmentSubmitted(0x52, 0x52, BASE))).toBe('accepted');
  });
});

test.each(['retry', 'resume'] as const)(
  '[inv-02] what a reviewer or a gate sent back stays so on every base, also when an operator says %s',
  (decision) => {
    const merge = after(TICKETS.reviewReady, ...sendBack);
    for (const state of [aThenB, merge].map((one) => after(one, killSwitchTurned, operatorDecided(decision)))) {
      const tree = state.segment?.n === 1 ? 0xb : 0x52;
      expect(hangsOnBase(state, { commit: commit(tree), content: treeOf(tree) })).toBe(false);
      expect(refusalOf(state, segmentSubmitted(0xe, tree, commit(0xba5f)))).toBe('candidate_unchanged');
    }
  },
);
