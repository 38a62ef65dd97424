import { expect, test } from 'vitest';
import { workspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import { workspaceName } from '../../schemas/workspace/name.ts';
import type { WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import type { SlotsView } from '../../schemas/workspace/slots.ts';
import { decideReconcile, idsToDescribe, type ReconcileSight, type RunState } from './reconcile.ts';

const runOf = (n: number, tenant = 'local') =>
  workspaceWorkflowId({ tenant, ticket: `T-${n}`, role: 'forge', workspaceGeneration: 1 });

function recordOf(run: string, change: Partial<WorkspaceRecord> = {}): WorkspaceRecord {
  return {
    schema: 'portcullis/workspace/v1',
    id: workspaceName(run),
    run,
    tenant: 'local',
    ticket: 'T-1',
    role: 'forge',
    workspaceGeneration: 1,
    execution: { id: 'e1', generation: 1 },
    purpose: 'building',
    owner: 'ticket/local/T-1',
    state: 'ready',
    phase: 'execute',
    waitingOn: 'release',
    detail: '',
    coderWorkspaceId: `w-${run}`,
    credentials: [],
    startedAt: 0,
    readyAt: 0,
    deadline: 0,
    latestDeadline: 0,
    trigger: null,
    endedAt: null,
    ...change,
  };
}

function slotsOf(change: Partial<SlotsView>): SlotsView {
  return {
    schema: 'portcullis/slots/v1',
    role: 'forge',
    capacity: 9,
    holders: [],
    waiting: [],
    quarantined: [],
    idle: 0,
    stopped: false,
    ...change,
  };
}

const holding = (holder: string, recorded = true) => ({ holder, recorded, state: 'working' as const, since: 0 });

function sightOf(change: Partial<ReconcileSight>, states: Readonly<Record<string, RunState>> = {}): ReconcileSight {
  return {
    tenant: 'local',
    owned: [],
    records: [],
    slots: [],
    suspects: [],
    states: new Map(Object.entries(states)),
    ...change,
  };
}

/** What the second of two rounds does that saw the same. */
function secondRound(sight: ReconcileSight) {
  const first = decideReconcile(sight);
  expect(first.actions).toEqual([]);
  return decideReconcile({ ...sight, suspects: first.suspects }).actions;
}

const run = runOf(1);
const owned = { coderWorkspaceId: 'w1', name: workspaceName(run), run };

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
  const foreign = { coderWorkspaceId: 'w2', name: 'x', run: runOf(1, 'other') };
  const bare = { coderWorkspaceId: 'w3', name: 'made-by-a-chat', run: null };
  const odd = { coderWorkspaceId: 'w4', name: 'odd', run: 'something/else' };
  expect(secondRound(sightOf({ owned: [foreign, bare, odd] }))).toEqual([
    { kind: 'destroy_stray', coderWorkspaceId: 'w3', name: 'made-by-a-chat' },
    { kind: 'destroy_stray', coderWorkspaceId: 'w4', name: 'odd' },
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

test('a workspace that exists and that the slots forgot takes its slot again', () => {
  const states = { [run]: 'open', 'ticket/local/T-1': 'open' } as const;
  const sight = sightOf({ owned: [owned], records: [recordOf(run)], slots: [slotsOf({})] }, states);
  expect(secondRound(sight)).toEqual([{ kind: 'hold_slot', role: 'forge', holder: run }]);
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

test('200 workspaces are decided in milliseconds, each once', () => {
  const runs = Array.from({ length: 200 }, (_, n) => runOf(n));
  const sight = sightOf(
    {
      owned: runs.map((one, n) => ({ coderWorkspaceId: `w-${n}`, name: workspaceName(one), run: one })),
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
