import { expect, test } from 'vitest';
import { needsOf, quickPulse, readingOf } from '../../test/support/workspace-fakes.ts';
import { runOfTicket } from '../../test/support/workspace-runs.ts';
import type { WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import { reconcileWorkspaces, type WorkspaceWorkflows } from './reconcile.ts';

const COUNT = 200;

test('[inv-13] 200 workspaces of closed owners are seen in one round, destroyed in the next, in under two seconds', async () => {
  const refs = Array.from({ length: COUNT }, (_, n) => runOfTicket(`T-${n}`));
  let suspects: readonly string[] = [];
  const started: WorkspaceRecord[] = [];
  const workflows: WorkspaceWorkflows = {
    slotsView: () => Promise.resolve(null),
    startDestroyer: (record) => (started.push(record), Promise.resolve()),
    startStrayDestroyer: () => Promise.reject(new Error('none is a stray')),
    cancel: () => Promise.reject(new Error('none is open')),
    tellVanished: () => Promise.reject(new Error('none is open')),
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
    describe: () => Promise.resolve('absent'),
  });
  const start = performance.now();
  const first = await reconcileWorkspaces(needs, workflows, 'local', quickPulse());
  expect(first).toEqual({ seen: COUNT, suspected: COUNT, acted: 0 });
  expect(started).toEqual([]);
  const second = await reconcileWorkspaces(needs, workflows, 'local', quickPulse());
  expect(performance.now() - start).toBeLessThan(2_000);
  expect(second).toEqual({ seen: COUNT, suspected: COUNT, acted: COUNT });
  // Even one of which the store knows nothing goes by the name and the generation that its run tells.
  expect(started[3]).toMatchObject({ run: refs[3]?.run, id: refs[3]?.name, ticket: 'T-3', state: 'ending' });
  expect(started.every(({ coderWorkspaceId, id }) => coderWorkspaceId === `w-${id}`)).toBe(true);
});

test('without a Coder server a round does nothing', async () => {
  const needs = { ...(await needsOf({})), coder: null };
  const nothing = () => Promise.reject(new Error('nothing is asked'));
  const workflows: WorkspaceWorkflows = {
    slotsView: nothing,
    startDestroyer: nothing,
    startStrayDestroyer: nothing,
    cancel: nothing,
    tellVanished: nothing,
  };
  expect(await reconcileWorkspaces(needs, workflows, 'local', quickPulse())).toBeNull();
});
