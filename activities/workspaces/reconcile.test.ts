import { expect, test } from 'vitest';
import { needsOf, quickPulse, readingOf } from '../../test/support/workspace-fakes.ts';
import { recordOf, runOfTicket } from '../../test/support/workspace-runs.ts';
import type { WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import { reconcileWorkspaces, type WorkspaceWorkflows } from './reconcile.ts';

const COUNT = 200;
const LOCAL = { tenant: 'local', tenants: ['local'] } as const;

const unasked = () => Promise.reject(new Error('nothing of the kind is to be done'));
const IDLE: WorkspaceWorkflows = {
  listRunning: () => Promise.resolve(new Set()),
  slotsView: () => Promise.resolve(null),
  startDestroyer: unasked,
  startStrayDestroyer: unasked,
  cancel: unasked,
  tellVanished: unasked,
};

test('[inv-13] 200 workspaces of closed owners are seen in one round, destroyed in the next, in under two seconds', async () => {
  const refs = Array.from({ length: COUNT }, (_, n) => runOfTicket(`T-${n}`));
  let suspects: readonly string[] = [];
  const started: WorkspaceRecord[] = [];
  const workflows: WorkspaceWorkflows = {
    ...IDLE,
    startDestroyer: (record) => (started.push(record), Promise.resolve()),
  };
  const reading = readingOf();
  if (reading.seen !== 'present') throw new Error('the fake is present');
  const { workspace } = reading;
  const needs = await needsOf({
    port: {
      listOwned: () =>
        Promise.resolve(refs.map(({ run, name }) => ({ workspace: { ...workspace, id: `w-${name}`, name }, run }))),
    },
    lifecycle: {
      listOpenWorkspaces: () => Promise.resolve([]),
      readSuspects: () => Promise.resolve(suspects),
      writeSuspects: (_tenant, next) => ((suspects = next), Promise.resolve()),
      readWorkspace: () => Promise.resolve(null),
      openRecovery: () => Promise.resolve(),
    },
    store: { now: () => Promise.resolve(1) },
    describe: () => Promise.resolve('closed'),
  });
  const start = performance.now();
  const first = await reconcileWorkspaces(needs, workflows, LOCAL, quickPulse());
  expect(first).toEqual({ seen: COUNT, suspected: COUNT, acted: 0 });
  expect(started).toEqual([]);
  const second = await reconcileWorkspaces(needs, workflows, LOCAL, quickPulse());
  expect(performance.now() - start).toBeLessThan(2_000);
  expect(second).toEqual({ seen: COUNT, suspected: COUNT, acted: COUNT });
  // Even one of which the store knows nothing goes by the name and the generation that its run tells.
  expect(started[3]).toMatchObject({ run: refs[3]?.run, id: refs[3]?.name, ticket: 'T-3', state: 'ending' });
  expect(started.every(({ coderWorkspaceId, id }) => coderWorkspaceId === `w-${id}`)).toBe(true);
});

test('[inv-11] slots that forgot are told what each workspace is to them', async () => {
  const records = [
    recordOf(runOfTicket('T-1').run, { state: 'quarantined' }),
    recordOf(runOfTicket('T-2').run),
    recordOf(runOfTicket('T-3').run, { state: 'waiting', phase: 'assign', coderWorkspaceId: null }),
  ];
  const [quarantined, works, waits] = records.map(({ run }) => run);
  const reading = readingOf();
  if (reading.seen !== 'present') throw new Error('the fake is present');
  const { workspace } = reading;
  let suspects: readonly string[] = [];
  const told: unknown[] = [];
  const needs = await needsOf({
    port: {
      listOwned: () => Promise.resolve(records.map(({ run, id }) => ({ run, workspace: { ...workspace, name: id } }))),
    },
    lifecycle: {
      listOpenWorkspaces: () => Promise.resolve(records),
      readSuspects: () => Promise.resolve(suspects),
      writeSuspects: (_tenant, next) => ((suspects = next), Promise.resolve()),
    },
    signalSlots: (_tenant, _role, message) => (told.push(message), Promise.resolve()),
  });
  await reconcileWorkspaces(needs, IDLE, LOCAL, quickPulse());
  await reconcileWorkspaces(needs, IDLE, LOCAL, quickPulse());
  const capacity = needs.registry.registry.agents.forge.maxWorkers;
  expect(told).toEqual([
    { kind: 'quarantine', holder: quarantined },
    { kind: 'held', holder: works, capacity },
    { kind: 'request', holder: waits, capacity },
  ]);
});

test('without a Coder server a round does nothing', async () => {
  const needs = { ...(await needsOf({})), coder: null };
  const blind: WorkspaceWorkflows = { ...IDLE, listRunning: unasked, slotsView: unasked };
  expect(await reconcileWorkspaces(needs, blind, LOCAL, quickPulse())).toBeNull();
});
