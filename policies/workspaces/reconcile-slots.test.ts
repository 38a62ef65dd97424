import { expect, test } from 'vitest';
import { holding, runOf, secondRound, sightOf, slotsOf } from '../../test/support/reconcile-sights.ts';
import { recordOf } from '../../test/support/workspace-runs.ts';
import { workspaceName } from '../../schemas/workspace/name.ts';
import type { RunState } from './reconcile.ts';
import { applySlots, isStopped, NO_SLOTS } from './slots.ts';

const run = runOf(1);
const owned = { coderWorkspaceId: 'w1', name: workspaceName(run), run, recorded: true };

test('a workspace that exists and that the slots forgot takes its slot again', () => {
  const states = { [run]: 'open', 'ticket/local/T-1': 'open' } as const;
  const sight = sightOf({ owned: [owned], records: [recordOf(run)], slots: [slotsOf({})] }, states);
  expect(secondRound(sight)).toEqual([{ kind: 'hold_slot', role: 'forge', holder: run }]);
});

test('[inv-11] slots that forgot get a quarantined workspace back as quarantined, and who waited longest asks first', () => {
  const [late, early, made] = [runOf(2), runOf(3), runOf(4)];
  const records = [
    recordOf(run, { state: 'quarantined', coderWorkspaceId: null }),
    recordOf(late, { state: 'waiting', phase: 'assign', coderWorkspaceId: null, startedAt: 9 }),
    recordOf(early, { state: 'waiting', phase: 'assign', coderWorkspaceId: null, startedAt: 8 }),
    recordOf(made, { state: 'provisioning', phase: 'provision', coderWorkspaceId: null, startedAt: 9 }),
    recordOf(runOf(5), { state: 'waiting', phase: 'detect', coderWorkspaceId: null }),
  ];
  const states = Object.fromEntries([...records.map((one) => one.run), 'ticket/local/T-1'].map((id) => [id, 'open']));
  const sight = sightOf({ records, slots: [slotsOf({})] }, states as Readonly<Record<string, RunState>>);
  expect(secondRound(sight)).toEqual([
    { kind: 'quarantine_slot', role: 'forge', holder: run },
    { kind: 'ask_slot', role: 'forge', holder: early },
    { kind: 'ask_slot', role: 'forge', holder: late },
    { kind: 'hold_slot', role: 'forge', holder: made },
  ]);
});

test('[inv-11] the slot of a closed holder is freed at once only when it never recorded a workspace', () => {
  const [used, unused, waiting] = [runOf(2), runOf(3), runOf(4)];
  const slots = [
    slotsOf({ holders: [holding(used), holding(unused, false)], waiting: [{ holder: waiting, since: 0 }] }),
  ];
  const states = { [used]: 'closed', [unused]: 'closed', [waiting]: 'absent' } as const;
  expect(secondRound(sightOf({ slots }, states))).toEqual([
    { kind: 'free_slot', role: 'forge', holder: waiting },
    { kind: 'destroy', run: used, name: workspaceName(used), coderWorkspaceId: null },
    { kind: 'free_slot', role: 'forge', holder: unused },
  ]);
});

test('a quarantined workspace whose workflow was ended is destroyed again', () => {
  const record = recordOf(run, { state: 'quarantined' });
  const slots = [slotsOf({ quarantined: [{ holder: run, since: 0 }] })];
  expect(secondRound(sightOf({ owned: [owned], records: [record], slots }, { [run]: 'closed' }))).toEqual([
    { kind: 'destroy', run, name: owned.name, coderWorkspaceId: 'w1' },
  ]);
});

test('[inv-11] quarantined workspaces whose workflows were ended are over once their destroyers proved them gone', () => {
  const runs = [runOf(1), runOf(2), runOf(3)];
  const slots = runs
    .flatMap((holder) => [{ kind: 'held', holder, capacity: 9 } as const, { kind: 'quarantine', holder } as const])
    .reduce((state, event) => applySlots(state, event, 0).state, NO_SLOTS);
  expect(isStopped(slots)).toBe(true);
  const states = Object.fromEntries(runs.map((one) => [one, 'closed' as const]));
  const round = (state: typeof slots) => secondRound(sightOf({ slots: [slotsOf(state)] }, states));
  expect(round(slots).map(({ kind }) => kind)).toEqual(['destroy', 'destroy', 'destroy']);
  const proved = runs.reduce(
    (state, holder) => applySlots(state, { kind: 'release', holder, because: 'gone' }, 0).state,
    slots,
  );
  expect(round(proved)).toEqual([]);
  expect(isStopped(proved)).toBe(false);
});
