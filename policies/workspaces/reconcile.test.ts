import { expect, test } from 'vitest';
import { holding, runOf, secondRound, sightOf, slotsOf } from '../../test/support/reconcile-sights.ts';
import { recordOf } from '../../test/support/workspace-runs.ts';
import { workspaceName } from '../../schemas/workspace/name.ts';
import { decideReconcile, idsBehind, idsToDescribe } from './reconcile.ts';

const run = runOf(1);
const owned = { coderWorkspaceId: 'w1', name: workspaceName(run), run, recorded: true };

test.each(['closed', 'absent'] as const)(
  '[inv-13] a workspace whose owner is %s in two rounds running is destroyed under the owner’s id',
  (state) => {
    expect(secondRound(sightOf({ owned: [owned] }, { [run]: state }))).toEqual([
      { kind: 'destroy', run, name: owned.name, coderWorkspaceId: 'w1' },
    ]);
  },
);

test('an owner that came back in between is not suspected any more', () => {
  const { suspects } = decideReconcile(sightOf({ owned: [owned] }, { [run]: 'absent' }));
  const second = decideReconcile(sightOf({ owned: [owned], suspects }, { [run]: 'open' }));
  expect(second).toEqual({ actions: [], suspects: [] });
});

test('an owner that could not be described is nobody’s ground for anything', () => {
  expect(secondRound(sightOf({ owned: [owned], records: [recordOf(run)] }))).toEqual([]);
});

test('[inv-10] a workspace that carries no run of ours is destroyed, and one of another tenant is left alone', () => {
  const foreign = {
    coderWorkspaceId: 'w2',
    name: workspaceName(runOf(1, 'other')),
    run: runOf(1, 'other'),
    recorded: false,
  };
  const bare = { coderWorkspaceId: 'w3', name: 'made-by-a-chat', run: null, recorded: false };
  const odd = { coderWorkspaceId: 'w4', name: 'odd', run: 'something/else', recorded: false };
  expect(secondRound(sightOf({ owned: [foreign, bare, odd] }))).toEqual([
    { kind: 'destroy_stray', coderWorkspaceId: 'w3', name: 'made-by-a-chat' },
    { kind: 'destroy_stray', coderWorkspaceId: 'w4', name: 'odd' },
  ]);
});

test('[inv-10] a workspace of a tenant that nobody serves is destroyed, unless a workflow of that id is open', () => {
  const unserved = runOf(1, 'zzz');
  const seen = { coderWorkspaceId: 'w2', name: workspaceName(unserved), run: unserved, recorded: false };
  expect(idsToDescribe(sightOf({ owned: [seen] }))).toEqual([unserved]);
  expect(secondRound(sightOf({ owned: [seen] }, { [unserved]: 'absent' }))).toEqual([
    { kind: 'destroy_stray', coderWorkspaceId: 'w2', name: seen.name },
  ]);
  // A control worker of that tenant may run beside this one.
  expect(secondRound(sightOf({ owned: [seen] }, { [unserved]: 'open' }))).toEqual([]);
  expect(secondRound(sightOf({ owned: [seen] }))).toEqual([]);
});

test('[inv-10] a workspace under a run that never was is a stray: a destroyer of that id would be in the way of the real one', () => {
  const early = { ...owned, recorded: false };
  const stray = { kind: 'destroy_stray', coderWorkspaceId: 'w1', name: owned.name };
  expect(secondRound(sightOf({ owned: [early] }, { [run]: 'absent' }))).toEqual([stray]);
  // A workflow of that id did run, or the store knows of it and Temporal forgot.
  const destroyed = { kind: 'destroy', run, name: owned.name, coderWorkspaceId: 'w1' };
  expect(secondRound(sightOf({ owned: [early] }, { [run]: 'closed' }))).toEqual([destroyed]);
  expect(secondRound(sightOf({ owned: [owned] }, { [run]: 'absent' }))).toEqual([destroyed]);
});

test('[inv-10] what carries the run of another workspace under a name of its own is a stray, and stands in for nothing', () => {
  const copy = { coderWorkspaceId: 'w9', name: 'forge-helper', run, recorded: false };
  const slots = [slotsOf({ holders: [holding(run)] })];
  const states = { [run]: 'open', 'ticket/local/T-1': 'open' } as const;
  expect(secondRound(sightOf({ owned: [owned, copy], records: [recordOf(run)], slots }, states))).toEqual([
    { kind: 'destroy_stray', coderWorkspaceId: 'w9', name: 'forge-helper' },
  ]);
  expect(secondRound(sightOf({ owned: [copy], records: [recordOf(run)], slots }, states))).toEqual([
    { kind: 'destroy_stray', coderWorkspaceId: 'w9', name: 'forge-helper' },
    { kind: 'tell_vanished', run },
  ]);
});

test('an open workspace whose ticket is closed is cancelled, unless it ends already', () => {
  const states = { [run]: 'open', 'ticket/local/T-1': 'closed' } as const;
  const slots = [slotsOf({ holders: [holding(run)] })];
  expect(secondRound(sightOf({ owned: [owned], records: [recordOf(run)], slots }, states))).toEqual([
    { kind: 'cancel', run },
  ]);
  const ending = recordOf(run, { state: 'ending' });
  expect(secondRound(sightOf({ owned: [owned], records: [ending], slots }, states))).toEqual([]);
});

test('an owner is told that its workspace vanished', () => {
  const states = { [run]: 'open', 'ticket/local/T-1': 'open' } as const;
  const slots = [slotsOf({ holders: [holding(run)] })];
  expect(secondRound(sightOf({ records: [recordOf(run)], slots }, states))).toEqual([{ kind: 'tell_vanished', run }]);
});

test('what an action rests on is known by its key: the run, its owner, and the run that a stray carries', () => {
  const lists = sightOf({ owned: [owned], records: [recordOf(run)] });
  expect(idsBehind(lists, [`cancel ${run}`])).toEqual([run, 'ticket/local/T-1']);
  expect(idsBehind(lists, ['destroy_stray w1'])).toEqual([run, 'ticket/local/T-1']);
  expect(idsBehind(sightOf({ owned: [{ ...owned, run: null }] }), ['destroy_stray w1'])).toEqual([]);
});

test('200 workspaces are decided in milliseconds, each once', () => {
  const runs = Array.from({ length: 200 }, (_, n) => runOf(n));
  const sight = sightOf(
    {
      owned: runs.map((one, n) => ({ coderWorkspaceId: `w-${n}`, name: workspaceName(one), run: one, recorded: true })),
      records: runs.map((one) => recordOf(one)),
      slots: [slotsOf({ holders: runs.map((one) => holding(one)) })],
    },
    Object.fromEntries(runs.map((one, n) => [one, n % 2 === 0 ? 'open' : 'closed'])),
  );
  expect(idsToDescribe(sight)).toHaveLength(201);
  const start = performance.now();
  expect(secondRound(sight)).toHaveLength(100);
  expect(performance.now() - start).toBeLessThan(1_000);
});
