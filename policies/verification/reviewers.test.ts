import { describe, expect, test } from 'vitest';
import { isReviewName } from '../../schemas/harness-api.ts';
import { areRelated, rootOf } from '../../schemas/gate/references.ts';
import type { PlannedReview } from '../../schemas/verification/activities.ts';
import { reviewPrompt } from './prompts.ts';
import { agreesContract, GENERAL_REVIEW, reviewerOf, reviewNameOf, reviewsOf, rulesOf } from './reviewers.ts';
import { producerOf } from './subject.ts';

const SECURITY: PlannedReview = { verifierClass: 'security', seat: 1 };
const words = (reviews: readonly PlannedReview[]) =>
  reviews.map(({ verifierClass, seat }) => `${verifierClass} ${seat}`);

describe('who reviews', () => {
  test('is one for each seat of each required class, the general one first', () => {
    const required = [
      { class: 'security', min: 2 },
      { class: 'reviewer', min: 1 },
    ];
    expect(words(reviewsOf(required))).toEqual(['reviewer 1', 'security 1', 'security 2']);
    expect(words(reviewsOf([{ class: 'security', min: 1 }]))).toEqual(['security 1']);
  });

  test('is somebody where the policy names nobody, and nobody for a class that no agent is', () => {
    expect(reviewsOf([])).toEqual([GENERAL_REVIEW]);
    const required = [
      { class: 'reviewer', min: 1 },
      { class: 'deterministic', min: 1 },
    ];
    expect(words(reviewsOf(required))).toEqual(['reviewer 1']);
  });

  test('[inv-19] is no more than a verification can seat', () => {
    expect(() => reviewsOf([{ class: 'reviewer', min: 9 }])).toThrow(/seats 8/);
  });

  test('[inv-02] two seats are two principals, and neither is related to the producer', () => {
    const reviews = reviewsOf([
      { class: 'reviewer', min: 2 },
      { class: 'security', min: 2 },
    ]);
    const hands = reviews.map((review) => reviewerOf('T-1', review));
    expect(new Set(hands.map(rootOf)).size).toBe(4);
    expect(hands.filter((hand) => areRelated(hand, producerOf('T-1')))).toEqual([]);
    expect(hands[0]?.id).toBe('sentinel:T-1');
  });
});

describe('what is asked of a reviewer', () => {
  const parameters = (gate: 'plan' | 'segment' | 'merge') =>
    ({
      ...{ ticket: 'T-1', gate, change: { base: 'a', head: 'b' }, plan: { commit: 'c' } },
      segment: gate === 'segment' ? { n: 2, of: 3 } : null,
    }) as unknown as Parameters<typeof reviewPrompt>[0];

  test.each([
    ['plan', 'CONTRACT.md', 'plan-security.md'],
    ['segment', 'segment-2-eval.md', 'segment-2-security.md'],
    ['merge', 'final-review.md', 'final-security.md'],
  ] as const)('at the %s gate is a file of its own: %s, %s', (gate, general, security) => {
    expect(reviewNameOf(parameters(gate), GENERAL_REVIEW)).toBe(general);
    expect(reviewNameOf(parameters(gate), SECURITY)).toBe(security);
    expect([general, security].every(isReviewName)).toBe(true);
  });

  test('only the general review of a plan agrees its contract', () => {
    expect(agreesContract({ gate: 'plan' }, GENERAL_REVIEW)).toBe(true);
    expect(agreesContract({ gate: 'plan' }, SECURITY)).toBe(false);
    expect(agreesContract({ gate: 'merge' }, GENERAL_REVIEW)).toBe(false);
  });

  test('says what a security reviewer looks at, by rules of its own', () => {
    const asked = { name: 'final-security.md', priorBlockers: [] };
    const security = reviewPrompt(parameters('merge'), { ...asked, verifierClass: 'security' });
    expect(security).toMatch(/secrets in the code[^]*reaches a shell/);
    expect(reviewPrompt(parameters('merge'), { ...asked, verifierClass: 'reviewer' })).not.toContain('reaches a shell');
    expect(rulesOf(SECURITY)).not.toEqual(rulesOf(GENERAL_REVIEW));
  });

  test('names what stopped an earlier round by id and digest, and none of its words', () => {
    const priorBlockers = [{ findingId: `f-${'1'.repeat(32)}`, digest: `sha256:${'2'.repeat(64)}` }];
    const asked = { name: 'final-review.md', verifierClass: 'reviewer', priorBlockers };
    const text = reviewPrompt(parameters('merge'), asked);
    expect(text).toContain(`- f-${'1'.repeat(32)} sha256:${'2'.repeat(64)}`);
    expect(text).toContain('one that you do not mention stays open');
    expect(reviewPrompt(parameters('merge'), { ...asked, priorBlockers: [] })).not.toContain('dispositions');
  });
});
