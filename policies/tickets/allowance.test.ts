import { expect, test } from 'vitest';
import type { TicketUpdateOutcome } from '../../schemas/ticket/state.ts';
import type { TicketUpdateName } from '../../schemas/ticket/workflow.ts';
import { isSpent, NOTHING_HEARD, overspent, UPDATE_BOUNDS, whenAnswered, whenHeard } from './allowance.ts';

const refused: TicketUpdateOutcome = { accepted: false, refusal: { code: 'missing_artifact', details: {} } };
const unlooked: TicketUpdateOutcome = { accepted: false, refusal: { code: 'submission_unavailable', details: {} } };

/** So many updates on a revision, each answered. */
function after(count: number, update: TicketUpdateName, outcome: TicketUpdateOutcome, from = NOTHING_HEARD) {
  return Array.from({ length: count }).reduce<typeof from>(
    (spent) => whenAnswered(whenHeard(spent, update, 7), update, 7, outcome),
    from,
  );
}

test('[inv-19] an agent is refused at most so often on one revision, and is heard again on the next', () => {
  const spent = after(UPDATE_BOUNDS.refused, 'submitSegment', refused);
  expect(overspent(after(UPDATE_BOUNDS.refused - 1, 'submitSegment', refused), 'submitSegment', 7)).toBeNull();
  expect(overspent(spent, 'submitSegment', 7)?.code).toBe('limit');
  expect(overspent(spent, 'approve', 7)?.code).toBe('limit');
  expect(overspent(spent, 'submitSegment', 8)).toBeNull();
  expect(whenHeard(spent, 'submitSegment', 8)).toMatchObject({ revision: 8, heard: 1, refused: 0 });
});

test('[inv-19] what nobody could look at is no refusal, but is not heard without end either', () => {
  const spent = after(UPDATE_BOUNDS.refused, 'submitPlan', unlooked);
  expect(overspent(spent, 'submitPlan', 7)).toBeNull();
  expect(overspent(after(UPDATE_BOUNDS.heard, 'submitPlan', unlooked), 'submitPlan', 7)?.code).toBe('limit');
});

test('[inv-19] few are looked at at once, so that an operator’s finds room', () => {
  let spent = NOTHING_HEARD;
  for (let n = 0; n < UPDATE_BOUNDS.atOnce; n += 1) spent = whenHeard(spent, 'submitPlan', 7);
  expect(overspent(spent, 'submitPlan', 7)?.code).toBe('rate_limited');
  expect(overspent(spent, 'abandon', 7)).toBeNull();
  expect(overspent(whenAnswered(spent, 'submitPlan', 7, null), 'submitPlan', 7)).toBeNull();
});

test('[inv-19] an operator is always heard, and a run ends long before Temporal’s bound', () => {
  const spent = after(UPDATE_BOUNDS.run, 'decide', refused);
  expect(overspent(spent, 'decide', 7)).toBeNull();
  expect([isSpent(after(UPDATE_BOUNDS.run - 1, 'decide', refused)), isSpent(spent)]).toEqual([false, true]);
  // Two steps of agents that use up all they may come on top before it does.
  expect(UPDATE_BOUNDS.run + 2 * UPDATE_BOUNDS.heard).toBeLessThan(1_000);
});

test('a late answer is counted for its own revision only', () => {
  const early = whenHeard(NOTHING_HEARD, 'submitPlan', 7);
  const spent = whenAnswered(whenHeard(early, 'submitPlan', 8), 'submitPlan', 7, refused);
  expect(spent).toMatchObject({ revision: 8, refused: 0, underWay: 1 });
});
