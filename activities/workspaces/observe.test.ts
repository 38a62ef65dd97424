import { expect, test } from 'vitest';
import { needsOf, quickPulse, readingOf, type Given } from '../../test/support/workspace-fakes.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { WatchLook } from '../../schemas/workspace/activities.ts';
import type { Presence } from '../store/port.ts';
import { observeProvisioning, watchWorkspace } from './observe.ts';

const seat = { tenant: 'local', pair: 'T-1', role: 'forge', workspaceGeneration: 1 } as const;
const look: WatchLook = { coderWorkspaceId: 'w1', seat, owner: 'ticket/local/T-1', forMs: 300_000 };

async function watch(given: Given, change: Partial<WatchLook> = {}) {
  return await watchWorkspace(await needsOf(given), { ...look, ...change }, quickPulse());
}

const present = (presence: Presence) => ({ readPresence: () => Promise.resolve(presence) });
const alive = { readById: () => Promise.resolve(readingOf()) };

test('a workspace that runs and whose executor is there is alive', async () => {
  expect(await watch({ port: alive, store: present('idle') })).toEqual({ kind: 'alive' });
});

test('[inv-18] what cannot be read for minutes is no sign of anything, and unknown is not absent', async () => {
  const away = () => Promise.reject(portcullisError('coder_unavailable', { operation: 'x', reason: 'y' }));
  expect(await watch({ port: { readById: away }, store: present('unknown') })).toEqual({ kind: 'alive' });
});

test('an executor that is absent for long is stale, one that comes back in time is not', async () => {
  expect(await watch({ port: alive, store: present('absent') })).toEqual({ kind: 'stale', reason: 'presence_absent' });
  let looks = 0;
  const presence = (): Presence => ((looks += 1) % 10 === 0 ? 'idle' : 'absent');
  const flickers = { readPresence: () => Promise.resolve(presence()) };
  expect(await watch({ port: alive, store: flickers })).toEqual({ kind: 'alive' });
});

test.each([
  ['not_running', readingOf({ transition: 'stop' })],
  ['not_running', readingOf({ job: 'failed' })],
  ['gone', { seen: 'deleted' }],
] as const)('one that is %s is stale at once', async (reason, reading) => {
  const port = { readById: () => Promise.resolve(reading) };
  expect(await watch({ port, store: present('idle') })).toEqual({ kind: 'stale', reason });
});

test('an agent that went away is waited for, then lost', async () => {
  const agents = [{ id: 'a', name: 'main', parentId: null, status: 'disconnected', lifecycle: 'ready' }] as const;
  const gone = { readById: () => Promise.resolve(readingOf({ agents })) };
  expect(await watch({ port: gone }, { seat: null })).toEqual({ kind: 'stale', reason: 'agent_lost' });
  expect(await watch({ port: gone }, { seat: null, forMs: 60_000 })).toEqual({ kind: 'alive' });
});

test('a closed owner ends the watch, an absent one is left to the reconciler', async () => {
  const given = { port: alive, store: present('idle') };
  expect(await watch({ ...given, describe: () => Promise.resolve('closed') })).toEqual({ kind: 'owner_closed' });
  expect(await watch({ ...given, describe: () => Promise.resolve('absent') })).toEqual({ kind: 'alive' });
});

test('a look answers as soon as something differs, and says the same again only after its time', async () => {
  let looks = 0;
  const port = {
    readById: () => {
      looks += 1;
      return Promise.resolve(looks < 3 ? readingOf({ job: 'running' }) : readingOf());
    },
  };
  const needs = await needsOf({ port });
  const provisioning = { coderWorkspaceId: 'w1', seat: null, seen: null, forMs: 20_000 };
  const first = await observeProvisioning(needs, provisioning, quickPulse());
  expect([first.step, looks]).toEqual(['building', 1]);
  const second = await observeProvisioning(needs, { ...provisioning, seen: first }, quickPulse());
  expect([second.step, looks]).toEqual(['ready', 3]);
});
