/** The harness API on a real gateway: who may say what for a ticket, and the approval of a review. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { readApprovalUse, withdrawApproval } from '../../activities/store/approvals.ts';
import type { ContentDigest } from '../../schemas/digest.ts';
import { HEAD, openHarnessStage, type Agent, type HarnessStage } from './stage.ts';

let stage: HarnessStage;
beforeAll(async () => {
  stage = await openHarnessStage(inject('temporalAddress'));
});
afterAll(() => stage.close());

const refusal = (code: string): unknown => expect.objectContaining({ code });
const REVIEW = 'segment-1-eval.md';
const saying = (block: object) => Buffer.from(`It was looked at.\n\n\`\`\`json\n${JSON.stringify(block)}\n\`\`\`\n`);
const APPROVING = saying({ verdict: 'APPROVED' });
const BLOCKING = {
  ...{ type: 'correctness', severity: 'blocker', standing: 'blocking', causality: 'introduced' },
  ...{ failure_scenario: 'It breaks.', required_fix: 'Mend it.' },
};
const REJECTING = saying({ verdict: 'REJECTED', verdict_token: 'RETRY_FORJA' });

/** What an answer needs, as the agent's own context tells it. */
async function answerOf({ calls }: Agent, review: Uint8Array) {
  const { digest } = await calls.appendReview(REVIEW, review);
  const { approval } = await calls.context();
  return { approvalId: approval?.id ?? '', token: approval?.token ?? '', reviewDigest: digest };
}

describe('what an agent says', () => {
  test("an agent's context is what is asked of its own workspace, and nothing of another's", async () => {
    const assignment = await stage.assign('ctx-a', { title: 'of a' });
    const [own, other, replaced, earlier] = await Promise.all([
      stage.agent('ctx-a'),
      stage.agent('ctx-b'),
      stage.agent('ctx-a', { workspaceGeneration: 2 }),
      stage.agent('ctx-a', { execution: 'e0' }),
    ]);
    expect(await own.calls.context()).toMatchObject({ pair: 'ctx-a', role: 'forge', assignment, approval: null });
    for (const agent of [other, replaced, earlier]) {
      expect((await agent.calls.context()).assignment, 'nothing is asked of it').toBeNull();
    }
  });

  test('what FORGE submits reaches its ticket once, however often it is sent', async () => {
    const ticket = await stage.open('submit');
    await stage.assign('submit');
    const { id, calls } = await stage.agent('submit');
    const segment = { n: 1, commit: HEAD, revision: 7 };
    expect(await calls.submitSegment(segment)).toMatchObject({ revision: 8, phase: 'plan_review' });
    await calls.submitSegment(segment);
    await calls.submitPlan({ commit: HEAD, revision: 7 });
    expect(await ticket.taken()).toEqual([
      { update: 'submitSegment', request: { ...segment, by: id } },
      { update: 'submitPlan', request: { commit: HEAD, revision: 7, by: id } },
    ]);
  });

  test('[inv-19] a workspace that submits anything and everything is stopped, and others are heard', async () => {
    const ticket = await stage.open('flood');
    await stage.assign('flood');
    await stage.assign('flood', { role: 'lore' });
    const [{ calls }, lore] = await Promise.all([stage.agent('flood'), stage.agent('flood', { role: 'lore' })]);
    const bogus = (n: number) => ({ n: 1, commit: n.toString(16).padStart(40, '0'), revision: 7 });
    for (let n = 1; n <= 20; n += 1) await calls.submitSegment(bogus(n));
    await expect(calls.submitSegment(bogus(21))).rejects.toEqual(refusal('limit'));
    await expect(calls.submitReady({ commit: HEAD, revision: 7 })).rejects.toEqual(refusal('limit'));
    expect(await calls.submitSegment(bogus(1)), 'an answer that was lost is still given').toMatchObject({
      revision: 8,
    });
    await lore.calls.submitReady({ commit: HEAD, revision: 7 });
    expect(await ticket.taken()).toHaveLength(21);
    await stage.assign('flood', { revision: 8 });
    expect(await calls.submitReady({ commit: HEAD, revision: 8 })).toMatchObject({ revision: 8 });
  });

  test('a ticket that has moved on refuses by name', async () => {
    await stage.open('stale');
    await stage.assign('stale');
    const { calls } = await stage.agent('stale');
    await expect(calls.submitReady({ commit: HEAD, revision: 6 })).rejects.toEqual(refusal('ticket_stale'));
  });

  test('what the ticket has no use for is refused with its own code, before the ticket takes it', async () => {
    const ticket = await stage.open('phase');
    await stage.assign('phase', { revision: 0 });
    const { calls } = await stage.agent('phase');
    const late = calls.submitReady({ commit: HEAD, revision: 0 });
    await expect(late).rejects.toMatchObject({
      code: 'ticket_phase',
      message: expect.stringContaining('merging') as string,
    });
    expect(await ticket.taken()).toEqual([]);
  });

  test('a ticket that is not open is not found, and a commit that is none is refused', async () => {
    await stage.assign('absent');
    const { calls } = await stage.agent('absent');
    await expect(calls.submitReady({ commit: HEAD, revision: 7 })).rejects.toEqual(refusal('not_found'));
    await expect(calls.submitReady({ commit: 'main', revision: 7 })).rejects.toEqual(refusal('schema_invalid'));
  });

  test('[inv-05] no other role, use, workspace or execution submits or appends', async () => {
    await stage.open('roles');
    await stage.assign('roles');
    await stage.review('roles');
    const submit = { commit: HEAD, revision: 7 };
    const [sentinel, executor, replaced, earlier, foreign, forge, lore] = await Promise.all([
      stage.agent('roles', { role: 'sentinel' }),
      stage.agent('roles', { use: 'executor' }),
      stage.agent('roles', { workspaceGeneration: 2 }),
      stage.agent('roles', { execution: 'e0' }),
      stage.agent('roles-of-another'),
      stage.agent('roles'),
      stage.agent('roles', { role: 'lore' }),
    ]);
    for (const agent of [sentinel, executor, replaced, earlier, foreign, lore]) {
      await expect(agent.calls.submitPlan(submit)).rejects.toEqual(refusal('not_allowed'));
    }
    const bytes = Buffer.from('a review');
    for (const agent of [forge, executor, lore]) {
      await expect(agent.calls.appendReview('segment-1-eval.md', bytes)).rejects.toEqual(refusal('not_allowed'));
    }
    await expect(executor.calls.context()).rejects.toEqual(refusal('not_allowed'));
  });

  test('a reviewer appends the review it is asked for: named, bounded, and the same again is the same', async () => {
    await stage.review('append');
    const { calls } = await stage.agent('append', { role: 'sentinel' });
    const bytes = Buffer.from('fine\n');
    const first = await calls.appendReview('segment-1-eval.md', bytes);
    expect(first).toMatchObject({ name: 'segment-1-eval.md', bytes: 5 });
    expect(await calls.appendReview('segment-1-eval.md', bytes)).toEqual(first);
    await expect(calls.appendReview('final-review.md', bytes)).rejects.toEqual(refusal('not_allowed'));
    await expect(calls.appendReview('../PLAN.md', bytes)).rejects.toEqual(refusal('schema_invalid'));
    const large = Buffer.alloc(256 * 1024 + 1, 'x');
    await expect(calls.appendReview('segment-1-eval.md', large)).rejects.toEqual(refusal('body_too_large'));
  });
});

describe('the approval of a review', () => {
  test('the token is told to the workspace that the approval is bound to, and to no other', async () => {
    await stage.review('told');
    await stage.assign('told', { approvalId: (await stage.review('told')).id });
    const [sentinel, fresh, forge] = await Promise.all([
      stage.agent('told', { role: 'sentinel' }),
      stage.agent('told', { role: 'sentinel', workspaceGeneration: 2 }),
      stage.agent('told'),
    ]);
    expect((await sentinel.calls.context()).approval?.token).toMatch(/^[\w-]{43}$/);
    expect((await fresh.calls.context()).approval).toBeNull();
    expect((await forge.calls.context()).approval).toBeNull();
  });

  test('an approval is used once, its repeat is answered, and everybody else is too late', async () => {
    const ticket = await stage.open('once');
    const binding = await stage.review('once');
    const sentinel = await stage.agent('once', { role: 'sentinel' });
    const approve = await answerOf(sentinel, APPROVING);
    expect(await sentinel.calls.approve(approve)).toMatchObject({ verdict: 'APPROVED', outcome: 'consumed' });
    expect(await sentinel.calls.approve(approve)).toMatchObject({ outcome: 'repeated' });
    const reject = await answerOf(sentinel, REJECTING);
    await expect(sentinel.calls.reject(reject)).rejects.toEqual(refusal('approval_used'));
    const again = await stage.agent('once', { role: 'sentinel' });
    await expect(again.calls.approve(approve)).rejects.toEqual(refusal('approval_used'));
    expect(await readApprovalUse(stage.control, 'local', binding.id)).toMatchObject({
      by: sentinel.id,
      verdict: 'APPROVED',
    });
    expect(await ticket.taken()).toEqual([
      {
        update: 'approve',
        request: { n: 3, approvalId: binding.id, reviewDigest: approve.reviewDigest, revision: 7, by: sentinel.id },
      },
    ]);
  });

  test('of two that race for one token one wins', async () => {
    const ticket = await stage.open('race');
    await stage.review('race');
    const sentinel = await stage.agent('race', { role: 'sentinel' });
    const [approve, reject] = [await answerOf(sentinel, APPROVING), await answerOf(sentinel, REJECTING)];
    const answers = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) =>
        index % 2 === 0 ? sentinel.calls.approve(approve) : sentinel.calls.reject(reject),
      ),
    );
    const won = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const lost = answers.flatMap((answer): unknown[] => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(won.filter(({ outcome }) => outcome === 'consumed')).toHaveLength(1);
    expect(new Set(won.map(({ verdict }) => verdict)).size).toBe(1);
    expect(lost).toEqual(lost.map(() => refusal('approval_used')));
    expect(lost).toHaveLength(4);
    expect(await ticket.taken()).toHaveLength(1);
  });

  test('[inv-01] an answer that its review does not say uses nothing up', async () => {
    await stage.open('unfit');
    const binding = await stage.review('unfit');
    const sentinel = await stage.agent('unfit', { role: 'sentinel' });
    const prose = await answerOf(sentinel, Buffer.from('APPROVED, gladly.'));
    await expect(sentinel.calls.approve(prose)).rejects.toEqual(refusal('review_unfit'));
    const rejecting = await answerOf(sentinel, REJECTING);
    await expect(sentinel.calls.approve(rejecting)).rejects.toEqual(refusal('review_unfit'));
    const never: ContentDigest = `sha256:${'0'.repeat(64)}`;
    await expect(sentinel.calls.approve({ ...prose, reviewDigest: never })).rejects.toEqual(refusal('review_unfit'));
    expect(await readApprovalUse(stage.control, 'local', binding.id)).toBeNull();
    expect(await sentinel.calls.reject(rejecting)).toMatchObject({ outcome: 'consumed' });
  });

  test('[inv-05] FORGE, an executor, another review and a forged token answer nothing', async () => {
    await stage.assign('foreign');
    const binding = await stage.review('foreign');
    await stage.review('foreign-other');
    const sentinel = await stage.agent('foreign', { role: 'sentinel' });
    const approve = await answerOf(sentinel, APPROVING);
    const [forge, executor, other] = await Promise.all([
      stage.agent('foreign'),
      stage.agent('foreign', { role: 'verifier', use: 'executor' }),
      stage.agent('foreign-other', { role: 'sentinel' }),
    ]);
    await expect(forge.calls.approve(approve)).rejects.toEqual(refusal('not_allowed'));
    await expect(executor.calls.approve(approve)).rejects.toEqual(refusal('not_allowed'));
    await answerOf(other, APPROVING);
    await expect(other.calls.approve(approve)).rejects.toEqual(refusal('approval_unknown'));
    const forged = { ...approve, token: 'A'.repeat(43) };
    await expect(sentinel.calls.approve(forged)).rejects.toEqual(refusal('approval_unknown'));
    expect(await readApprovalUse(stage.control, 'local', binding.id)).toBeNull();
  });

  test('[inv-05] the token of one reviewer answers for the file of no other, in either direction', async () => {
    await stage.open('two');
    const security = { review: 'segment-1-security.md', workspaceGeneration: 2 };
    const general = await stage.review('two');
    const first = await stage.agent('two', { role: 'sentinel' });
    const approve = await answerOf(first, APPROVING);
    await expect(first.calls.appendReview(security.review, APPROVING)).rejects.toEqual(refusal('not_allowed'));

    const binding = await stage.review('two', security);
    const second = await stage.agent('two', { role: 'sentinel', workspaceGeneration: 2 });
    await expect(second.calls.appendReview(REVIEW, APPROVING)).rejects.toEqual(refusal('not_allowed'));
    await expect(second.calls.approve(approve)).rejects.toEqual(refusal('approval_unknown'));
    const { digest } = await second.calls.appendReview(security.review, APPROVING);
    const own = { approvalId: binding.id, token: (await second.calls.context()).approval?.token ?? '' };
    const mixed = { approvalId: general.id, token: own.token, reviewDigest: digest };
    await expect(second.calls.approve(mixed)).rejects.toEqual(refusal('approval_unknown'));
    // The first is asked nothing any more; its own token is dead with its place.
    await expect(first.calls.approve({ ...own, reviewDigest: digest })).rejects.toEqual(refusal('not_allowed'));
    await expect(first.calls.approve(approve)).rejects.toEqual(refusal('not_allowed'));
    expect(await second.calls.approve({ ...own, reviewDigest: digest })).toMatchObject({ outcome: 'consumed' });
    expect(await readApprovalUse(stage.control, 'local', general.id)).toBeNull();
  });

  test('[inv-05] a review that was appended under another name answers for none', async () => {
    await stage.open('renamed');
    await stage.review('renamed');
    const sentinel = await stage.agent('renamed', { role: 'sentinel' });
    const { digest } = await sentinel.calls.appendReview(REVIEW, APPROVING);
    // The same workspace is asked for another file: what it wrote before is not that.
    const binding = await stage.review('renamed', { review: 'segment-1-security.md' });
    const token = (await sentinel.calls.context()).approval?.token ?? '';
    const answer = { approvalId: binding.id, token, reviewDigest: digest };
    await expect(sentinel.calls.approve(answer)).rejects.toEqual(refusal('review_unfit'));
    expect(await readApprovalUse(stage.control, 'local', binding.id)).toBeNull();
  });

  test.each([
    ['findings of another form', { verdict: 'APPROVED', findings: [{ finding_id: 'f-1' }] }],
    ['findings that block', { verdict: 'APPROVED', findings: [BLOCKING] }],
    ['ten thousand findings', { verdict: 'APPROVED', findings: Array.from({ length: 10_000 }, () => ({})) }],
  ])('[inv-02] [inv-19] an approval with %s uses nothing up', async (what, block) => {
    const pair = `report-${what.length}`;
    const binding = await stage.review(pair);
    const sentinel = await stage.agent(pair, { role: 'sentinel' });
    const approve = await answerOf(sentinel, saying(block));
    await expect(sentinel.calls.approve(approve)).rejects.toEqual(refusal('review_unfit'));
    expect(await readApprovalUse(stage.control, 'local', binding.id)).toBeNull();
  });

  test.each([
    ['an earlier plan', { planRevision: 2 }],
    ['an earlier round', { round: 2 }],
    ['an earlier head', { head: 'b'.repeat(40) }],
  ])('[inv-04] a token of %s is dead', async (what, change) => {
    const pair = `dead-${what.slice(-5).trim()}`;
    await stage.review(pair);
    const sentinel = await stage.agent(pair, { role: 'sentinel' });
    const approve = await answerOf(sentinel, APPROVING);
    await stage.review(pair, change);
    await expect(sentinel.calls.approve(approve)).rejects.toEqual(refusal('approval_expired'));
  });

  test('a withdrawn approval and one past its time are dead', async () => {
    await stage.review('withdrawn');
    const withdrawn = await stage.agent('withdrawn', { role: 'sentinel' });
    const answer = await answerOf(withdrawn, APPROVING);
    await withdrawApproval(stage.control, 'local', 'withdrawn');
    await expect(withdrawn.calls.approve(answer)).rejects.toEqual(refusal('approval_expired'));
    await stage.review('late', { expiresAt: Date.now() - 1 });
    const late = await stage.agent('late', { role: 'sentinel' });
    await expect(late.calls.approve(await answerOf(late, APPROVING))).rejects.toEqual(refusal('approval_expired'));
  });

  test('[inv-15] a token is neither in the store nor in a history', async () => {
    const ticket = await stage.open('secret');
    await stage.review('secret');
    const sentinel = await stage.agent('secret', { role: 'sentinel' });
    const approve = await answerOf(sentinel, APPROVING);
    await sentinel.calls.approve(approve);
    const history = await ticket.history();
    expect(history).toContain(approve.reviewDigest);
    expect(history).not.toContain(approve.token);
    const keys = await stage.control.run((redis) =>
      Promise.all(
        ['approval', 'approvalUsed'].map((leaf) =>
          redis.get(`ns:local:approval:${approve.approvalId}${leaf === 'approval' ? '' : ':used'}`),
        ),
      ),
    );
    expect(keys.every((text) => text !== null && !text.includes(approve.token))).toBe(true);
  });
});
