/** The main job once through on the real local stack: scripted agents in real workspaces, real git, real gates. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startStack, type Stack } from './stage.ts';
import { landedSubjects, moveBase, startTicket, untilGone, untilPhase } from './tickets.ts';

const LONG = 240_000;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

test(
  '[inv-01] [inv-03] [inv-18] a ticket goes from plan to merged change, over a killed control worker and a base that moved',
  { timeout: LONG },
  async () => {
    const { id, remote } = await startTicket(stack, 'T-100');
    await untilPhase(stack, id, ['segment_review']);
    await stack.killAndAwait('control');
    await untilPhase(stack, id, ['review_ready']);
    const moved = moveBase(stack, remote, 'Land something else');
    const { state } = await untilPhase(stack, id, ['done']);

    // One segment was sent back once, by a defect that the reviewer found in the code.
    expect(state.lineage).toMatchObject([{ phase: 'segment_review', round: 1 }]);
    // What landed is the second candidate, on the base that had moved, and nothing but it.
    expect(await landedSubjects(remote)).toEqual([
      'Document T-100: Tell the level and take tokens back',
      'Tell the level and take tokens back',
      'Land something else',
      'Test the token bucket',
      'Add a token bucket',
    ]);
    expect(state.merge).toMatchObject({ state: 'landed', candidate: state.candidate?.commit });
    expect(state.candidate?.base).toBe(moved);

    const { items } = await stack.operator.gateHistory(id);
    const decided = items
      .flatMap(({ gate, decision }) => (decision === null ? [] : [`${gate} ${decision}`]))
      .toReversed();
    expect(decided).toEqual([
      'plan pass',
      'segment pass',
      'segment rework',
      'segment pass',
      'merge pass',
      'merge pass',
      'operation pass',
    ]);
    // The pass on the first candidate says nothing about what landed.
    const merges = items.filter(({ gate, decision }) => gate === 'merge' && decision !== null);
    expect(merges.map(({ applicability }) => applicability)).toEqual(['applicable', 'subject_superseded']);
    const { evidence, standing } = await stack.operator.showGate(merges[0]?.evaluationKey ?? '');
    expect(standing.authorises).toBe(true);
    expect(
      evidence
        .filter(({ kind }) => kind === 'check')
        .map(({ about, status }) => `${about} ${status}`)
        .toSorted(),
    ).toEqual(['candidate-bound passed', 'tests passed']);
  },
);

test('[inv-10] [inv-11] every workspace of an ended ticket is gone, with the trigger that ended it', async () => {
  const mine = await untilGone(stack, 'T-100');
  expect(mine.length).toBeGreaterThanOrEqual(8);
  for (const { role, trigger } of mine)
    expect(trigger).toBe(role === 'forge' || role === 'lore' ? 'merged' : 'evaluated');
});

test(
  '[inv-02] [inv-16] a ticket that nobody can plan waits for a person, says why, and abandoning it destroys its workspaces',
  { timeout: LONG },
  async () => {
    const { id } = await startTicket(stack, 'T-101', { title: 'Do the impossible', body: 'Add `levitate(height)`.' });
    await untilPhase(stack, id, ['awaiting_human']);
    const why = await stack.cli('ticket', 'why', id, '--json');
    expect(JSON.parse(why.stdout)).toMatchObject({ kind: 'TicketWhy', phase: 'awaiting_human', waitingOn: 'operator' });
    const abandoned = await stack.cli('ticket', 'abandon', id, '--reason', 'nobody can', '--json');
    expect(abandoned, abandoned.stderr).toMatchObject({ code: 0 });
    await untilPhase(stack, id, ['abandoned']);
    await untilGone(stack, id);
    expect((await stack.cli('ticket', 'resume', id, '--reason', 'again')).code).not.toBe(0);
  },
);
