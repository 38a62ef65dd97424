/**
 * Whole stacks whose agents misbehave, go blind, come late or are lost. Three tickets run side by side, each directed by its test;
 * what happened to them is looked at here, one claim a test.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPuppetStack, type PuppetStack } from './puppets.ts';
import { approvalsStory, type ApprovalsStory } from './stories/approvals.ts';
import { blindStory, type BlindStory } from './stories/blind.ts';
import { movedHeadStory, type MovedHeadStory } from './stories/moved-head.ts';
import { untilGone } from './tickets.ts';

/** About a minute on a machine that does nothing else. */
const LONG = 600_000;

let puppets: PuppetStack;
/** Each goes on by itself: what fails in one says nothing of the others. */
let stories: { blind: Promise<BlindStory>; approvals: Promise<ApprovalsStory>; movedHead: Promise<MovedHeadStory> };
beforeAll(async () => {
  puppets = await startPuppetStack();
  stories = { blind: blindStory(puppets), approvals: approvalsStory(puppets), movedHead: movedHeadStory(puppets) };
  // Awaited by the tests, which fail by it.
  for (const story of Object.values(stories)) story.catch(() => {});
}, 120_000);
afterAll(() => puppets.close(), 60_000);

describe('[inv-02] [inv-16] a blind reviewer blocks its ticket with the reason:', () => {
  test.each([
    ['no PLAN.md', 'noPlan', 'missing-plan', 0],
    ['an empty workspace', 'empty', 'empty-workspace', 1],
    ['an unreadable diff', 'noDifference', 'unreadable-diff', 2],
  ] as const)('%s', { timeout: LONG }, async (_, at, reason, n) => {
    const blind = await stories.blind;
    const stopped = blind.stops[at];
    expect(stopped).toMatchObject({ phase: 'blocked', stop: { cause: 'upstream', detail: reason } });
    expect(blind.whys[n]).toContain(reason);
  });

  test('nothing was decided on what could not be seen', { timeout: LONG }, async () => {
    const blind = await stories.blind;
    expect(blind.stops.empty.passes).toEqual([]);
    expect(blind.decisionsWhenBlind.items.filter(({ decision }) => decision !== null)).toEqual([]);
    expect(blind.stops.noDifference.passes.map(({ gate }) => gate)).toEqual(['plan']);
  });
});

test('[inv-04] a pass of execution N tried for N+1 lands nothing, in whoever’s hands', { timeout: LONG }, async () => {
  const blind = await stories.blind;
  const { pass, standing, answer } = blind.stale;
  expect(pass.generation).toBe(1);
  expect(answer).toMatchObject({ outcome: 'refused', by: 'authority' });
  expect(standing).toBe('execution_superseded');
  expect(blind.main[1]).toEqual(blind.main[0]);
  // What landed in the end was judged again, in the execution that landed it.
  expect(blind.end).toMatchObject({ execution: { generation: 2 }, merge: { state: 'landed' } });
  expect(blind.end.merge?.evaluationKey).not.toBe(pass.evaluationKey);
});

test(
  '[inv-03] [inv-04] a stale approval after re-planning is dead, in the hands of its own reviewer and of the next one',
  { timeout: LONG },
  async () => {
    const approvals = await stories.approvals;
    const [reviewed, replanned] = approvals.plans;
    expect(replanned).toBe(reviewed + 1);
    expect(approvals.stale).toEqual({
      byItsOwn: 'unauthenticated',
      byAnother: 'approval_unknown',
      withAnothersToken: 'approval_unknown',
    });
    const [before, after] = approvals.untouched;
    expect(after).toMatchObject({ revision: before.revision, phase: 'plan_review', review: { answer: null } });
  },
);

test(
  '[inv-08] two racing for one token: one has it, the other is told that it is used',
  { timeout: LONG },
  async () => {
    const approvals = await stories.approvals;
    expect(approvals.race.toSorted()).toEqual(['approval_used', 'taken']);
  },
);

test(
  '[inv-01] [inv-05] FORGE approving itself with the token that it got hold of is refused, and so is its review',
  { timeout: LONG },
  async () => {
    const approvals = await stories.approvals;
    expect(approvals.forge).toEqual({
      approves: 'not_allowed',
      rejects: 'not_allowed',
      appends: 'not_allowed',
      readsToken: 'none',
    });
  },
);

test(
  '[inv-05] a producer’s own green result tried as evidence passes nothing: the gate goes by what a verifier ran',
  { timeout: LONG },
  async () => {
    const approvals = await stories.approvals;
    const { task, askedByForge, gate, after } = approvals.own;
    expect(task.result).toMatchObject({
      status: 'completed',
      satisfied: true,
      attestation: 'producer',
      executor: { role: 'forge' },
      gate_grade: { eligible: false },
    });
    expect(askedByForge).toBe('role');
    expect(gate.decision.decision).toMatchObject({ decision: 'rework' });
    const checks = gate.evidence.filter(({ kind }) => kind === 'check');
    expect(checks.map(({ about, status }) => `${about} ${status}`)).toContain('tests failed');
    expect(JSON.stringify(gate.evidence)).not.toContain(task.id);
    expect(after).toMatchObject({ phase: 'building', segment: { n: 1, passed: 0 } });
  },
);

test(
  '[inv-04] [inv-10] a workspace lost in segment 2 resumes there in a new execution, without the passes of the old one',
  { timeout: LONG },
  async () => {
    const approvals = await stories.approvals;
    const { before, after, late, standings, resumed } = approvals.lost;
    expect(before).toMatchObject({ execution: { generation: 1 }, segment: { n: 2, passed: 1 } });
    expect(after).toMatchObject({
      phase: 'building',
      execution: { generation: 2 },
      segment: { n: 2, passed: 1 },
      head: before.head,
      passes: [],
    });
    expect(late).toMatch(/^(?:unauthenticated|not_allowed)$/);
    expect(standings.every((standing) => standing === 'execution_superseded')).toBe(true);
    expect(resumed).toMatchObject({ execution: { generation: 2 }, segment: { n: 2, passed: 1 } });
    expect(resumed.head).not.toBe(before.head);
  },
);

test(
  '[inv-03] a head moved between pass and merge changes nothing: exactly the judged candidate lands',
  { timeout: LONG },
  async () => {
    const movedHead = await stories.movedHead;
    const { intended, pushed, submitted, end, main, subjects, hasPushed } = movedHead;
    expect(intended).toMatchObject({ phase: 'merging', merge: { state: 'intended' } });
    expect(submitted).toMatch(/^(?:ticket_phase|ticket_stale|merge_in_progress)$/);
    expect(end.merge).toEqual({ ...intended.merge, state: 'landed' });
    expect(end.head).toBe(intended.head);
    expect(end.head).not.toBe(pushed);
    expect(main[1]).toBe(intended.candidate?.commit);
    expect(hasPushed).toBe(false);
    expect(subjects).not.toContain('One more thing');
  },
);

test('[inv-10] [inv-11] nothing of them is left', { timeout: LONG }, async () => {
  await Promise.all(Object.values(stories));
  for (const id of ['T-200', 'T-201', 'T-202']) {
    const made = await untilGone(puppets.stack, id);
    expect(made.length).toBeGreaterThan(5);
  }
});
