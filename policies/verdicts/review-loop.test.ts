import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UNPARSEABLE_REASONS, VERDICT_TOKENS, type VerdictReading, type VerdictToken } from '../../schemas/verdict.ts';
import { parseVerdict } from './parse.ts';
import {
  LINEAGE_LIMIT,
  RETRY_LIMIT,
  afterHumanDecision,
  afterReview,
  newReviewLoop,
  type ReviewOutcome,
} from './review-loop.ts';
import { reaskText, routeOf } from './route.ts';

const approved: VerdictReading = { verdict: 'APPROVED' };
const unread: VerdictReading = { verdict: 'UNPARSEABLE', reason: 'no_block', detail: 'There is none.' };
const rejected = (token: VerdictToken = 'RETRY_FORJA', failureClass: string | null = 'test-fail'): VerdictReading => ({
  verdict: 'REJECTED',
  token,
  failureClass,
});

/** The outcomes of these readings one after the other. */
function play(...readings: readonly VerdictReading[]): readonly ReviewOutcome[] {
  let loop = newReviewLoop('T-048');
  return readings.map((reading, index) => {
    const outcome = afterReview(loop, reading, `review/${index + 1}`);
    loop = outcome.loop;
    return outcome;
  });
}

const routes = (outcomes: readonly ReviewOutcome[]) => outcomes.map(({ action }) => action.route);

test('each token has its route', () => {
  expect(VERDICT_TOKENS.map((token) => routeOf(rejected(token)))).toEqual(['retry_producer', 'human', 'stop']);
  expect([routeOf(approved), routeOf(unread)]).toEqual(['proceed', 'reask']);
});

test('a first mechanical failure goes to the producer, never to a human', () => {
  expect(routes(play(rejected()))).toEqual(['retry_producer']);
});

test('retries are bounded, then a human gets the whole lineage', () => {
  const outcomes = play(rejected(), rejected(), rejected(), rejected('RETRY_FORJA', 'lint'));
  expect(routes(outcomes)).toEqual(['retry_producer', 'retry_producer', 'retry_producer', 'human']);
  expect(outcomes.at(-1)?.action).toMatchObject({
    why: 'retries_exhausted',
    lineage: [
      { messageRef: 'review/1' },
      { messageRef: 'review/2' },
      { messageRef: 'review/3' },
      { failureClass: 'lint' },
    ],
  });
});

test('an approval gives the next streak its own retries', () => {
  const outcomes = play(rejected(), rejected(), rejected(), approved, rejected());
  expect(routes(outcomes).slice(3)).toEqual(['proceed', 'retry_producer']);
});

test('a human who says go on gives fresh retries, and the lineage stays', () => {
  const spent = play(rejected(), rejected(), rejected(), rejected()).at(-1)?.loop;
  const next = afterReview(afterHumanDecision(spent ?? newReviewLoop('T-048')), rejected(), 'review/5');
  expect(next.action.route).toBe('retry_producer');
  expect(next.loop.rejections).toHaveLength(5);
  expect(next.lesson).toBeNull();
});

test('blocked upstream never loops', () => {
  expect(routes(play(...Array.from({ length: 5 }, () => rejected('BLOCKED_UPSTREAM'))))).toEqual(
    Array.from({ length: 5 }, () => 'stop'),
  );
});

test('an unreadable answer is asked for once more, then a human sees it', () => {
  const outcomes = play(unread, unread);
  expect(routes(outcomes)).toEqual(['reask', 'human']);
  expect(outcomes[1]?.action).toMatchObject({ why: 'unparseable_again' });
});

test('a readable answer after a re-ask ends it: the next review has its own', () => {
  expect(routes(play(unread, rejected(), unread, rejected()))).toEqual([
    'reask',
    'retry_producer',
    'reask',
    'retry_producer',
  ]);
});

test('the re-ask quotes the reason and shows a form that can be read', () => {
  for (const reason of UNPARSEABLE_REASONS) {
    const text = reaskText({ verdict: 'UNPARSEABLE', reason, detail: 'So it was.' });
    expect(text).toContain(`(${reason}): So it was.`);
    expect(parseVerdict(text)).toEqual({ verdict: 'REJECTED', token: 'RETRY_FORJA', failureClass: 'type-error' });
  }
});

test('the second rejection in a row fires one lesson with the classes, a third fires none', () => {
  const outcomes = play(rejected('RETRY_FORJA', 'lint'), rejected('NEEDS_HUMAN', 'test-fail'), rejected());
  expect(outcomes.map(({ lesson }) => lesson !== null)).toEqual([false, true, false]);
  expect(outcomes[1]?.lesson).toEqual({
    schema: 'portcullis/lesson/v1',
    issue: 'T-048',
    rejections: [
      { messageRef: 'review/1', token: 'RETRY_FORJA', failureClass: 'lint' },
      { messageRef: 'review/2', token: 'NEEDS_HUMAN', failureClass: 'test-fail' },
    ],
    failureClasses: ['lint', 'test-fail'],
  });
});

test('a lesson names a class once and leaves out what had none', () => {
  expect(play(rejected(), rejected())[1]?.lesson?.failureClasses).toEqual(['test-fail']);
  expect(play(rejected('RETRY_FORJA', null), rejected('RETRY_FORJA', null))[1]?.lesson?.failureClasses).toEqual([]);
});

test('an approval between two rejections keeps the lesson from firing', () => {
  expect(play(rejected(), approved, rejected()).every(({ lesson }) => lesson === null)).toBe(true);
});

test('an unreadable answer between two rejections neither counts nor ends the streak', () => {
  expect(play(rejected(), unread, rejected()).map(({ lesson }) => lesson !== null)).toEqual([false, false, true]);
});

test('a new streak after an approval fires its own lesson', () => {
  const fired = play(rejected(), rejected(), approved, rejected(), rejected()).map(({ lesson }) => lesson !== null);
  expect(fired).toEqual([false, true, false, false, true]);
});

const anyReading = fc.oneof(
  fc.constant(approved),
  fc.constant(unread),
  fc.record({
    verdict: fc.constant('REJECTED' as const),
    token: fc.constantFrom(...VERDICT_TOKENS),
    failureClass: fc.constantFrom(null, 'lint', 'test-fail'),
  }),
);

test('over any history: bounded state, one lesson a streak, bounded retries, no approval that nobody gave', () => {
  fc.assert(
    fc.property(fc.array(anyReading, { maxLength: 100 }), (readings) => {
      let streak = { rejections: 0, lessons: 0, retries: 0 };
      play(...readings).forEach(({ action, lesson, loop }, index) => {
        const reading = readings[index];
        if (reading?.verdict === 'APPROVED') streak = { rejections: 0, lessons: 0, retries: 0 };
        if (reading?.verdict === 'REJECTED') streak.rejections += 1;
        if (lesson !== null) streak.lessons += 1;
        if (action.route === 'retry_producer') streak.retries += 1;
        expect(action.route === 'proceed').toBe(reading?.verdict === 'APPROVED');
        expect(streak.lessons).toBe(streak.rejections >= 2 ? 1 : 0);
        expect(streak.retries).toBeLessThanOrEqual(RETRY_LIMIT);
        expect(loop.rejections).toHaveLength(Math.min(streak.rejections, LINEAGE_LIMIT));
      });
    }),
    { numRuns: 300 },
  );
});
