import { describe, expect, test } from 'vitest';
import type { TicketEvent } from '../../schemas/ticket/event.ts';
import type { RefusalCode, TicketState } from '../../schemas/ticket/state.ts';
import {
  after,
  agentFailed,
  BASE,
  candidateMade,
  candidateTested,
  commit,
  gateDecided,
  killSwitchTurned,
  landed,
  mergeIntended,
  operatorDecided,
  planSubmitted,
  readySubmitted,
  reviewed,
  segmentSubmitted,
  TICKETS,
  withForge,
  workspaceEnded,
  workspaceReady,
  workspaceReleased,
  workspaceStarted,
} from '../../test/support/ticket-fixtures.ts';
import { apply } from './apply.ts';
import { TICKET_BOUNDS } from './bounds.ts';

type Make = (state: TicketState) => TicketEvent;

function refusalOf(state: TicketState, make: Make): RefusalCode | 'accepted' {
  const applied = apply(state, make(state));
  return applied.ok ? 'accepted' : applied.refusal.code;
}

const sentBackFrom = (state: TicketState): TicketState =>
  after(state, reviewed('retry_producer'), gateDecided('rework'));

describe('decisions', () => {
  test('a decision on another revision is stale, and says which one the ticket is at', () => {
    const event = { ...planSubmitted()(TICKETS.planning), revision: 99 } as TicketEvent;
    expect(apply(TICKETS.planning, event)).toEqual({
      ok: false,
      refusal: { code: 'ticket_stale', details: { event: 'planSubmitted', revision: 99, current: 1 } },
    });
  });

  test('observations of workspaces do not make a submission stale', () => {
    const asked = TICKETS.building;
    const event = segmentSubmitted(0x51)(asked);
    const later = after(asked, agentFailed);
    expect(later.revision).toBe(asked.revision);
    expect(apply(later, event).ok).toBe(true);
  });

  test.each<[string, TicketState, Make, RefusalCode]>([
    [
      'a segment that is not built now',
      TICKETS.building,
      (s) => ({ ...segmentSubmitted(9)(s), n: 2 }) as TicketEvent,
      'ticket_mismatch',
    ],
    [
      'a segment without a change',
      TICKETS.building,
      (s) => ({ ...segmentSubmitted(9)(s), head: s.head }) as TicketEvent,
      'candidate_unchanged',
    ],
    ['ready before every segment has passed', TICKETS.secondSegment, readySubmitted, 'ticket_mismatch'],
    [
      'ready at a commit that was not reviewed',
      TICKETS.built,
      (s) => ({ ...readySubmitted(s), head: commit(9) }) as TicketEvent,
      'ticket_mismatch',
    ],
    ['a decision of the gate before verification', TICKETS.planReview, gateDecided(), 'ticket_phase'],
    [
      'a decision of another evaluation',
      TICKETS.planVerified,
      (s) => ({ ...gateDecided()(s), n: 9 }) as TicketEvent,
      'ticket_mismatch',
    ],
    [
      'a decision of another gate',
      TICKETS.planVerified,
      (s) => ({ ...gateDecided()(s), gate: 'merge' }) as TicketEvent,
      'ticket_mismatch',
    ],
    [
      'a decision about another subject',
      TICKETS.planVerified,
      (s) => ({ ...gateDecided()(s), subjectDigest: 'x' }) as TicketEvent,
      'ticket_mismatch',
    ],
    ['a second verdict of one evaluation', TICKETS.planVerified, reviewed(), 'ticket_phase'],
    [
      'a candidate of another head',
      TICKETS.testing,
      (s) => ({ ...candidateMade()(s), candidate: { commit: commit(1), base: BASE, head: BASE } }) as TicketEvent,
      'ticket_mismatch',
    ],
    ['a second candidate', TICKETS.withCandidate, candidateMade(7), 'ticket_mismatch'],
    [
      'the test of another candidate',
      TICKETS.withCandidate,
      (s) => ({ ...candidateTested()(s), candidate: commit(7) }) as TicketEvent,
      'ticket_mismatch',
    ],
    [
      'landing another candidate',
      TICKETS.merging,
      (s) => ({ ...mergeIntended(s), candidate: commit(7) }) as TicketEvent,
      'ticket_mismatch',
    ],
    [
      'landing on another decision',
      TICKETS.merging,
      (s) => ({ ...mergeIntended(s), evaluationKey: 'x' }) as TicketEvent,
      'ticket_mismatch',
    ],
    ['landing while continuous integration is pending', TICKETS.withPullRequest, mergeIntended, 'ticket_mismatch'],
    ['having landed without the intent', TICKETS.merging, landed, 'ticket_phase'],
    [
      'having landed another candidate',
      TICKETS.intended,
      (s) => ({ ...landed(s), candidate: commit(7) }) as TicketEvent,
      'ticket_mismatch',
    ],
    ['abandoning while it lands', TICKETS.intended, operatorDecided('abandon'), 'merge_in_progress'],
    ['the kill switch while it lands', TICKETS.intended, killSwitchTurned, 'merge_in_progress'],
    ['a second agent on one branch', TICKETS.building, workspaceStarted('forge'), 'ticket_mismatch'],
    ['a retry of what is at work', TICKETS.building, operatorDecided('retry'), 'ticket_phase'],
  ])('%s is refused', (_, state, make, code) => {
    expect(refusalOf(state, make)).toBe(code);
  });

  test('one answer to a review counts; the same again is no second one', () => {
    const answer =
      (approvalId: string): Make =>
      ({ revision, since, review }) => ({
        type: 'reviewAnswered',
        revision,
        at: since,
        actor: 'c-1',
        n: review?.n ?? 0,
        answer: 'approve',
        approvalId,
        reviewDigest: 'sha256:7',
      });
    const answered = after(TICKETS.planReview, answer('a-1'));
    expect(refusalOf(answered, answer('a-1'))).toBe('accepted');
    const otherwise: Make = (state) => ({ ...answer('a-1')(state), answer: 'reject' }) as TicketEvent;
    expect(refusalOf(answered, otherwise)).toBe('approval_used');
    // Of the reviewer's next session, whose approval the store had made the one that counts.
    expect(refusalOf(answered, answer('a-2'))).toBe('accepted');
    expect(answered.revision).toBe(TICKETS.planReview.revision);
  });
});

describe('[inv-04] executions', () => {
  test('a workspace lost in segment 2 resumes at segment 2 without a pass', () => {
    const lost = after(TICKETS.secondSegment, workspaceEnded());
    expect(lost).toMatchObject({
      phase: 'building',
      execution: { id: 'e2', generation: 2 },
      segment: { n: 2, of: 2, passed: 1 },
      head: TICKETS.secondSegment.head,
      passes: [],
      workspaces: [],
      waitingOn: 'workspace',
    });
  });

  test('ready is not inherited: the last segment is judged again in the new execution', () => {
    const lost = after(TICKETS.built, workspaceEnded());
    expect(lost.segment).toMatchObject({ n: 2, passed: 1 });
    expect(refusalOf(lost, readySubmitted)).toBe('ticket_mismatch');
    const again = after(lost, (state) => ({ ...segmentSubmitted(0)(state), head: state.head }) as TicketEvent);
    expect(again.phase).toBe('segment_review');
  });

  test('resuming a stopped merge makes and judges a new candidate', () => {
    const resumed = after(TICKETS.merging, killSwitchTurned, operatorDecided('resume'));
    expect(resumed).toMatchObject({ phase: 'testing', candidate: null, passes: [], execution: { generation: 2 } });
  });

  test('a retry keeps the execution, and with it a pass that still stands', () => {
    const retried = after(TICKETS.merging, killSwitchTurned, operatorDecided('retry'));
    expect(retried).toMatchObject({ phase: 'merging', execution: { generation: 1 } });
    expect(refusalOf(retried, mergeIntended)).toBe('accepted');
  });
});

describe('what a change clears', () => {
  test('a new head drops the pass of the segment before, not that of the plan', () => {
    expect(TICKETS.secondSegment.passes.map((pass) => pass.gate)).toEqual(['plan', 'segment']);
    expect(after(TICKETS.secondSegment, segmentSubmitted(0x77)).passes.map((pass) => pass.gate)).toEqual(['plan']);
  });

  test('a moved base drops the candidate with its pass, and the third one asks a person', () => {
    const moved: Make = ({ revision, since, candidate }) => ({
      type: 'baseMoved',
      revision,
      at: since,
      actor: 'land',
      base: commit(Number.parseInt(candidate?.base.slice(-6) ?? '0', 16) + 1),
    });
    let state = after(TICKETS.intended, moved);
    expect(state).toMatchObject({ phase: 'testing', candidate: null, merge: null });
    expect(state.passes.some((pass) => pass.gate === 'merge')).toBe(false);
    for (let n = 1; n < TICKET_BOUNDS.candidates; n += 1) {
      state = after(
        state,
        candidateMade(0xca1 + n),
        candidateTested(),
        reviewed(),
        gateDecided(),
        mergeIntended,
        moved,
      );
    }
    expect(state).toMatchObject({
      phase: 'awaiting_human',
      stop: { cause: 'candidates_exhausted' },
      resumePhase: 'testing',
    });
  });
});

describe('bounds', () => {
  test('the third rejection of a segment goes to a person with the lineage, and a retry sends it back afresh', () => {
    let state: TicketState = TICKETS.building;
    for (let round = 1; round <= TICKET_BOUNDS.rounds; round += 1) {
      expect(state.round).toBe(round);
      state = sentBackFrom(after(state, segmentSubmitted(0x100 + round)));
    }
    expect(state).toMatchObject({
      phase: 'awaiting_human',
      stop: { cause: 'rounds_exhausted' },
      resumePhase: 'building',
    });
    expect(state.lineage).toHaveLength(3);
    const retried = after(state, operatorDecided('retry'));
    expect(retried).toMatchObject({ phase: 'building', round: 1, feedback: { from: 'gate' } });
    expect(refusalOf(retried, segmentSubmitted(0x103))).toBe('candidate_unchanged');
  });

  test('the rejected plan is not taken again, not even at another commit', () => {
    const back = sentBackFrom(TICKETS.planReview);
    const { digest } = TICKETS.planReview.plan ?? { digest: '' };
    const same: Make = (state) =>
      ({ ...planSubmitted()(state), plan: { commit: commit(9), digest, segments: 2 } }) as TicketEvent;
    expect(refusalOf(back, planSubmitted(1))).toBe('candidate_unchanged');
    expect(refusalOf(back, same)).toBe('candidate_unchanged');
    expect(after(back, planSubmitted(2))).toMatchObject({ phase: 'plan_review', plan: { revision: 2 }, round: 2 });
  });

  test('five failures of agents and workspaces ask a person', () => {
    let state: TicketState = TICKETS.planning;
    for (let n = 1; n < TICKET_BOUNDS.providerFailures; n += 1) {
      state = after(state, agentFailed);
      expect(state.phase).toBe('planning');
    }
    expect(after(state, agentFailed)).toMatchObject({ phase: 'awaiting_human', stop: { cause: 'provider_failed' } });
  });
});

test('[inv-01] a gate that passes what the reviewer rejected moves nothing: a person looks', () => {
  const state = after(TICKETS.candidateVerified, gateDecided('rework'));
  expect(state.phase).toBe('building');
  expect(after(TICKETS.planRejected, gateDecided('pass'))).toMatchObject({
    phase: 'awaiting_human',
    passes: [],
    stop: { cause: 'verdict_contradicts_gate' },
  });
});

test('once a person was asked for, the same subject is evaluated again and not verified again', () => {
  const held = after(TICKETS.candidateVerified, gateDecided('human_required'));
  const again = after(held, operatorDecided('retry'));
  expect(again).toMatchObject({ phase: 'review_ready', waitingOn: 'gate' });
  expect(again.review?.n).toBe((TICKETS.candidateVerified.review?.n ?? 0) + 1);
});

test('a workspace that we released ends without a loss', () => {
  const released = after(TICKETS.building, workspaceReleased, workspaceEnded());
  expect(released).toMatchObject({ phase: 'building', execution: { generation: 1 }, workspaces: [] });
  expect(after(released, ...withForge)).toMatchObject({ waitingOn: 'segment', workspaceGenerations: { forge: 2 } });
  expect(refusalOf(released, workspaceReady)).toBe('ticket_mismatch');
});

test('what has landed stays landed when its documentation is given up', () => {
  expect(after(TICKETS.documenting, operatorDecided('abandon')).phase).toBe('done');
  expect(after(TICKETS.documenting, killSwitchTurned, operatorDecided('abandon')).phase).toBe('done');
});
