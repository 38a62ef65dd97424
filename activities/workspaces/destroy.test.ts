import { expect, test } from 'vitest';
import { buildOf, needsOf, quickPulse, readingOf } from '../../test/support/workspace-fakes.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { canonicalText } from '../../schemas/canonical.ts';
import type { OwnedWorkspace } from '../../schemas/coder/workspace.ts';
import type { DeleteLook } from '../../schemas/workspace/activities.ts';
import type { CoderPort } from '../coder/port.ts';
import { refuseWorkspaceCredentials } from './refuse.ts';
import { advanceDelete, locateWorkspace, orphanWorkspace } from './destroy.ts';

const look: DeleteLook = { coderWorkspaceId: 'w1', buildId: null, activeVersion: false, seen: null, forMs: 1_000 };
const deleting = buildOf({ id: 'd1', transition: 'delete', job: 'running' });

async function advance(port: Partial<CoderPort>, change: Partial<DeleteLook> = {}) {
  return await advanceDelete(await needsOf({ port }), { ...look, ...change }, quickPulse());
}

test('[inv-11] gone is what was proved: the delete job ended well and Coder answers 410', async () => {
  const port = {
    build: () => Promise.resolve(buildOf({ id: 'd1', transition: 'delete', job: 'succeeded' })),
    isGone: () => Promise.resolve({ gone: false, because: 'unseen' } as const),
  };
  expect(await advance(port, { buildId: 'd1' })).toMatchObject({ at: 'failed', reason: 'unseen' });
  const gone = { ...port, isGone: () => Promise.resolve({ gone: true } as const) };
  expect(await advance(gone, { buildId: 'd1' })).toMatchObject({ at: 'gone' });
});

test('a delete that failed is a failed attempt by name, with what Coder said', async () => {
  const build = () =>
    Promise.resolve(buildOf({ id: 'd1', transition: 'delete', job: 'failed', jobError: 'cannot destroy' }));
  expect(await advance({ build }, { buildId: 'd1' })).toMatchObject({
    at: 'failed',
    reason: 'delete_failed',
    detail: 'cannot destroy',
  });
});

test('[inv-19] what Coder said is cut so that a record can hold it', async () => {
  const jobError = `${'x'.repeat(299)}\u{1f600} and more`;
  const build = () => Promise.resolve(buildOf({ id: 'd1', transition: 'delete', job: 'failed', jobError }));
  const sight = await advance({ build }, { buildId: 'd1' });
  expect(sight.detail).toHaveLength(300);
  expect(() => canonicalText(sight)).not.toThrow();
});

test('an active build is cancelled once, also where that is forbidden, and waited for', async () => {
  let cancels = 0;
  let asks = 0;
  const sight = await advance(
    {
      requestBuild: () => {
        asks += 1;
        const busy = { outcome: 'busy', build: buildOf({ id: 'b7', job: 'running' }) } as const;
        return Promise.resolve(asks < 4 ? busy : ({ outcome: 'started', build: deleting } as const));
      },
      cancelBuild: () => {
        cancels += 1;
        return Promise.reject(portcullisError('coder_forbidden', { operation: 'cancel build' }));
      },
      build: () => Promise.resolve(deleting),
    },
    { seen: { at: 'busy', buildId: null, reason: '', detail: 'waiting for its start build to end' } },
  );
  expect(sight).toMatchObject({ at: 'deleting', buildId: 'd1' });
  expect(cancels).toBe(1);
});

test('a delete that is under way is followed, not asked for again', async () => {
  const requestBuild = () => Promise.resolve({ outcome: 'busy', build: deleting } as const);
  expect(await advance({ requestBuild })).toMatchObject({ at: 'deleting', buildId: 'd1' });
});

test('the last rung deletes with the active version of the template', async () => {
  const asked: unknown[] = [];
  await advance(
    {
      readById: () => Promise.resolve(readingOf()),
      template: () =>
        Promise.resolve({
          id: 't1',
          name: 'development',
          organizationId: 'o',
          activeVersionId: 'v9',
          deprecated: false,
          deleted: false,
          defaultTtlMs: 0,
          activityBumpMs: 0,
          failureTtlMs: 0,
          timeTilDormantMs: 0,
          userMayCancel: true,
        }),
      requestBuild: (_workspace, request) => {
        asked.push(request);
        return Promise.resolve({ outcome: 'started', build: deleting });
      },
    },
    { activeVersion: true },
  );
  expect(asked).toEqual([{ transition: 'delete', templateVersionId: 'v9' }]);
});

test('[inv-13] a workspace is found by the run it carries, never by a name that somebody else may hold', async () => {
  const ref = { tenant: 'local', ticket: 'T-1', role: 'forge', workspaceGeneration: 1, run: 'r', name: 'n' } as const;
  const none = await needsOf({ port: { listByRun: () => Promise.resolve([]) } });
  expect(await locateWorkspace(none, ref, {})).toEqual({ found: 'nothing' });
  const reading = readingOf();
  if (reading.seen !== 'present') throw new Error('the fake is present');
  const copy = { run: 'r', workspace: { ...reading.workspace, id: 'copy', name: 'made-by-a-chat' } };
  const own = { run: 'r', workspace: { ...reading.workspace, id: 'own', name: 'n' } };
  const listing = (...found: readonly OwnedWorkspace[]) =>
    needsOf({ port: { listByRun: () => Promise.resolve(found) } });
  expect(await locateWorkspace(await listing(copy), ref, {})).toEqual({ found: 'nothing' });
  expect(await locateWorkspace(await listing(copy, own), ref, {})).toEqual({
    found: 'present',
    coderWorkspaceId: 'own',
  });
});

test('orphaning needs the break-glass identity', async () => {
  const ref = { tenant: 'local', ticket: 'T-1', role: 'forge', workspaceGeneration: 1, run: 'r', name: 'n' } as const;
  await expect(orphanWorkspace(await needsOf({}), ref, 'w1', 'op', quickPulse())).rejects.toMatchObject({
    code: 'coder_forbidden',
  });
});

test('[inv-13] credentials of a run are refused even when writing them was broken off', async () => {
  const ref = { tenant: 'local', ticket: 'T-1', role: 'forge', workspaceGeneration: 1, run: 'r', name: 'n' } as const;
  const refused: string[] = [];
  const store = {
    retireCredential: (_tenant: string, id: string) => {
      refused.push(id);
      return refused.length === 1 ? Promise.resolve() : Promise.reject(portcullisError('not_found', { what: 'x', id }));
    },
  };
  await refuseWorkspaceCredentials(await needsOf({ store }), ref, []);
  expect(refused).toHaveLength(2);
  await refuseWorkspaceCredentials(await needsOf({ store }), ref, [...refused]);
  expect(new Set(refused).size).toBe(2);
});
