/** Branches of a workspace's life that need no long wait, on a real server. */
import { WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import type { WorkspaceEnded } from '../../schemas/workspace/workflow.ts';
import { pollUntil } from '../support/poll.ts';
import { openStage, play, type CoderScript, type Play, type Stage, type WorkspaceHandle } from './workspace-stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'), 'workspaces');
});
afterAll(() => stage.close());

const WHOLE_LIFE = [
  'detect begun',
  'detect done',
  'assign begun',
  'assign done',
  'template begun',
  'template done',
  'provision begun',
  'provision done',
  'install begun',
  'install done',
  'bind begun',
  'bind done',
  'execute begun',
  'execute done',
  'teardown begun',
  'teardown done',
];

/** These look at a server that many tests share. */
const PATIENT = { deadlineMs: 45_000, everyMs: 100 } as const;

async function untilTold({ told }: Play, name: string): Promise<void> {
  await pollUntil(async () => (await told()).some(({ signal }) => signal === name), {
    what: `the signal ${name}`,
    ...PATIENT,
  });
}

async function untilWaitingOn(handle: WorkspaceHandle, waitingOn: string): Promise<void> {
  const seen = async () => (await handle.describe()).typedSearchAttributes.get(SEARCH_ATTRIBUTES.waitingOn);
  await pollUntil(async () => (await seen()) === waitingOn, { what: `a wait on ${waitingOn}`, ...PATIENT });
}

function isHolding(run: string): boolean {
  const last = stage.slots.findLast(({ role }) => role === 'forge');
  return last?.holders.some(({ holder }) => holder === run) ?? false;
}

async function ended({ told }: Play): Promise<WorkspaceEnded> {
  const last = (await told()).findLast(({ signal }) => signal === 'workspaceEnded');
  return last?.word as WorkspaceEnded;
}

test.concurrent(
  '[inv-10] a workspace is named before it is created, used until its owner releases it, and proved gone',
  async () => {
    await play(stage, 'w-happy', {}, async (on) => {
      const handle = await on.start();
      await untilTold(on, 'workspaceReady');
      await untilWaitingOn(handle, 'release');
      await handle.signal('releaseWorkspace', { trigger: 'merged', reason: 'segment done' });
      expect(await handle.result()).toMatchObject({ trigger: 'merged', fate: 'gone', became: 'ended' });
      expect(on.seen.events()).toEqual(WHOLE_LIFE);
      // The slots know before the name is recorded, the name is recorded before it is created, and only the proof frees.
      expect(on.seen.calls).toEqual([
        'tellSlots:request',
        'template',
        'tellSlots:recorded',
        'credentials',
        'create',
        'tellSlots:working',
        'refuse:c-w-happy',
        'chats',
        'delete',
        'sweep',
        'tellSlots:release',
      ]);
      expect(await ended(on)).toMatchObject({ trigger: 'merged', fate: 'gone', reason: 'segment done' });
      expect(on.seen.last()).toMatchObject({ state: 'gone', trigger: 'merged' });
    });
  },
);

test.concurrent.each([
  ['start_error', { install: () => ({ step: 'failed', reason: 'start_error', detail: '' }) }],
  ['no_provisioner', { unserved: true }],
  ['coder_name_taken', { create: () => 'coder_name_taken' }],
  ['coder_name_spent', { create: () => 'coder_name_spent' }],
  ['workspace_template_refused', { template: 'workspace_template_refused' }],
  ['workspace_refused', { plan: 'workspace_refused' }],
  ['kill_switch', { plan: 'kill_switch' }],
] satisfies readonly (readonly [string, CoderScript])[])(
  '[inv-13] what ends by %s before it is ready leaves nothing, and its owner is told why',
  async (reason, script) => {
    await play(stage, `w-fails-${reason}`, script, async (on) => {
      const handle = await on.start();
      expect(await handle.result()).toMatchObject({ became: 'never_ready', trigger: 'failed', fate: 'gone', reason });
      expect((await on.told()).map(({ signal }) => signal)).toEqual(['workspaceEnded']);
      const mayExist = on.seen.calls.includes('tellSlots:recorded');
      expect(on.seen.calls.includes('sweep')).toBe(mayExist);
      if (on.seen.calls.includes('tellSlots:request')) expect(on.seen.calls.at(-1)).toBe('tellSlots:release');
    });
  },
);

test.concurrent('without a Coder server a workspace fails by a name that says so', async () => {
  await play(stage, 'w-no-coder', { plan: 'coder_not_configured' }, async (on) => {
    const handle = await on.start();
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'coder_not_configured' } });
    expect(await ended(on)).toMatchObject({ became: 'never_ready', reason: 'coder_not_configured' });
  });
});

test.concurrent('[inv-10] a create that lost its answer is adopted, not repeated under another name', async () => {
  const script: CoderScript = { create: (asked) => (asked === 1 ? 'coder_unavailable' : 'adopted') };
  await play(stage, 'w-adopts', script, async (on) => {
    const handle = await on.start();
    await untilTold(on, 'workspaceReady');
    await handle.signal('releaseWorkspace', { trigger: 'evaluated', reason: 'done' });
    expect(await handle.result()).toMatchObject({ fate: 'gone' });
    expect(on.seen.calls.filter((call) => call === 'create')).toHaveLength(2);
    expect(on.seen.writes.flatMap(({ events }) => events.map(({ detail }) => detail))).toContain('adopted');
  });
});

/** Each place at which a life can be cancelled: the activity that is held there. */
const PHASES = [
  ['detect', 'planWorkspace'],
  ['assign', 'tellSlots'],
  ['template', 'resolveTemplate'],
  ['provision', 'createWorkspace'],
  ['install', 'observeProvisioning'],
  ['execute', 'watchWorkspace'],
  ['teardown', 'advanceDelete'],
] as const;

test.concurrent.each(PHASES)(
  '[inv-13] a cancel in the phase %s still tears down, and says cancelled',
  async (phase, activity) => {
    const open = Promise.withResolvers<undefined>();
    const reached = Promise.withResolvers<undefined>();
    let isHeld = true;
    const hold = (name: string) => {
      if (name !== activity || !isHeld) return undefined;
      isHeld = false;
      reached.resolve(undefined);
      return open.promise;
    };
    await play(stage, `w-cancel-${phase}`, { hold }, async (on) => {
      const handle = await on.start();
      if (phase === 'teardown') {
        await untilTold(on, 'workspaceReady');
        await handle.signal('releaseWorkspace', { trigger: 'merged', reason: 'done' });
      }
      await reached.promise;
      await handle.cancel();
      open.resolve(undefined);
      const result = await handle.result().catch((thrown: unknown) => thrown);
      if (phase === 'teardown') {
        // The owner had ended it already: a cancel of the teardown changes nothing.
        expect(result).toMatchObject({ trigger: 'merged', fate: 'gone' });
      } else {
        expect(result).toBeInstanceOf(WorkflowFailedError);
        expect((result as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
        expect(await ended(on)).toMatchObject({ trigger: 'cancelled', fate: 'gone' });
      }
      expect(on.seen.last()).toMatchObject({ state: 'gone' });
      const wasMade = on.seen.calls.includes('create');
      expect(on.seen.calls.includes('delete')).toBe(wasMade);
      await pollUntil(() => !isHolding(handle.workflowId), { what: 'its slot to be free', ...PATIENT });
    });
  },
);

test.concurrent('[inv-13] an owner that releases while it is being made ends it at once', async () => {
  const script: CoderScript = { install: () => ({ step: 'queued', reason: '', detail: 'place 3 of 3' }) };
  await play(stage, 'w-released-early', script, async (on) => {
    const handle = await on.start();
    await untilWaitingOn(handle, 'coder');
    await handle.signal('releaseWorkspace', { trigger: 'superseded', reason: 'planned anew' });
    expect(await handle.result()).toMatchObject({ trigger: 'superseded', became: 'never_ready', fate: 'gone' });
  });
});

test.concurrent('a workspace whose owner is closed when it becomes ready ends by itself', async () => {
  await play(stage, 'w-owner-closed', {}, async (on) => {
    const handle = await on.start({ owner: 'ticket/none' });
    expect(await handle.result()).toMatchObject({ trigger: 'abandoned', reason: 'owner_closed', fate: 'gone' });
  });
});

test.concurrent(
  '[inv-16] those who wait for a slot are served in order and show their place before they wait',
  async () => {
    // One slot, of a role that no other play has.
    await play(stage, 'w-slots', { maxWorkers: 1 }, async (on) => {
      const start = (workspaceGeneration: number) => on.start({ role: 'verifier', workspaceGeneration });
      const shown = () => stage.slots.findLast(({ role }) => role === 'verifier');
      const inLine = (place: number) =>
        pollUntil(() => shown()?.waiting[place - 1]?.holder.endsWith(`/${place + 1}`), {
          what: `place ${place} taken`,
          ...PATIENT,
        });
      const first = await start(1);
      await untilTold(on, 'workspaceReady');
      const second = await start(2);
      await inLine(1);
      const third = await start(3);
      await inLine(2);
      await pollUntil(
        async () => (await third.query<{ detail: string }>('workspaceRecord')).detail.startsWith('place 2 of 2'),
        { what: 'the place in the record', ...PATIENT },
      );
      await untilWaitingOn(third, 'slot');
      for (const handle of [first, second, third]) {
        await handle.signal('releaseWorkspace', { trigger: 'merged', reason: 'done' });
        expect(await handle.result()).toMatchObject({ fate: 'gone' });
      }
      await pollUntil(() => shown()?.holders.length === 0, { what: 'every slot free', ...PATIENT });
      expect(stage.slots.filter(({ role }) => role === 'verifier').every(({ holders }) => holders.length <= 1)).toBe(
        true,
      );
    });
  },
);

test.concurrent('a holder that ended without a word and never recorded a workspace is skipped', async () => {
  await play(stage, 'w-dead-holder', { maxWorkers: 1 }, async (on) => {
    // Nobody answers to this id: it cannot be told its grant, so the slot goes to the next at once.
    await stage.tellSlots('sentinel', { kind: 'request', holder: 'workspace/x/none/sentinel/1', capacity: 1 });
    const handle = await on.start({ role: 'sentinel' });
    await untilTold(on, 'workspaceReady');
    await handle.signal('releaseWorkspace', { trigger: 'merged', reason: 'done' });
    expect(await handle.result()).toMatchObject({ fate: 'gone' });
  });
});

test.concurrent(
  '[inv-12] the control plane extends up to the maximum; the workspace itself only shortens',
  async () => {
    await play(stage, 'w-ttl', { ttlSeconds: 300, maxTtlSeconds: 600 }, async (on) => {
      const handle = await on.start();
      await untilTold(on, 'workspaceReady');
      const deadline = async () => (await handle.query<{ deadline: number }>('workspaceRecord')).deadline;
      const first = await deadline();
      await handle.signal('shortenWorkspace', { seconds: 100_000 });
      expect(await deadline()).toBe(first);
      const extension = { by: 'op', reason: 'nearly done' };
      const longer = await handle.executeUpdate('extendWorkspace', { args: [{ seconds: 60, ...extension }] });
      expect(longer).toEqual({ extended: true, deadline: first + 60_000, capped: false });
      const capped = await handle.executeUpdate('extendWorkspace', { args: [{ seconds: 9_000, ...extension }] });
      expect(capped).toEqual({ extended: true, deadline: first + 300_000, capped: true });
      const again = await handle.executeUpdate('extendWorkspace', { args: [{ seconds: 60, ...extension }] });
      expect(again).toEqual({ extended: false, because: 'at_maximum' });
      await handle.signal('shortenWorkspace', { seconds: 0 });
      expect(await handle.result()).toMatchObject({ trigger: 'timeout', reason: 'ttl', fate: 'gone' });
    });
  },
);

/** How a ready workspace is ended, whether its agent is asked to push first, and what it may answer to that. */
const LAST_PUSHES = [
  ['failed', {}, ['push', 'refuse']],
  ['manual', { push: () => 'time_over' }, ['push', 'refuse']],
  ['failed', { push: () => 'coder_forbidden' }, ['push', 'refuse']],
  ['merged', {}, ['refuse']],
  ['abandoned', {}, ['refuse']],
  ['superseded', {}, ['refuse']],
] satisfies readonly (readonly [string, CoderScript, readonly string[]])[];

test.concurrent.each(LAST_PUSHES.map((one, index) => [index, ...one] as const))(
  '[inv-12] %i: released as %s, its agent may push once more or not, and then its credentials are refused',
  async (index, trigger, script, wanted) => {
    await play(stage, `w-push-${index}`, script, async (on) => {
      const handle = await on.start();
      await untilTold(on, 'workspaceReady');
      await handle.signal('releaseWorkspace', { trigger, reason: 'enough' });
      expect(await handle.result()).toMatchObject({ trigger, fate: 'gone' });
      const calls = on.seen.calls.map((call) => call.split(':')[0] ?? '');
      expect(calls.filter((call) => ['push', 'refuse'].includes(call)).slice(0, wanted.length)).toEqual(wanted);
      const words = (await on.told()).map(({ signal }) => signal);
      expect(words.includes('workspaceEnding')).toBe(wanted.includes('push'));
      expect(words.at(-1)).toBe('workspaceEnded');
    });
  },
);

test.concurrent('a reader has no work of its own, and is asked for none', async () => {
  await play(stage, 'w-push-reader', {}, async (on) => {
    const handle = await on.start({ role: 'sentinel', source: { head: 'a'.repeat(40), branch: null } });
    await untilTold(on, 'workspaceReady');
    await handle.signal('releaseWorkspace', { trigger: 'failed', reason: 'enough' });
    expect(await handle.result()).toMatchObject({ fate: 'gone' });
    expect(on.seen.calls).not.toContain('push');
  });
});

test.concurrent('[inv-11] what was released is deleted even while a chat stays active', async () => {
  await play(stage, 'w-chat', { chats: () => 'coder_forbidden' }, async (on) => {
    const handle = await on.start();
    await untilTold(on, 'workspaceReady');
    await handle.signal('releaseWorkspace', { trigger: 'merged', reason: 'done' });
    expect(await handle.result()).toMatchObject({ fate: 'gone' });
    expect(on.seen.events()).toContain('teardown retrying');
  });
});
