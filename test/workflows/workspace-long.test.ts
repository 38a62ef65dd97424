/** Waits of minutes in a workspace's life, on the time-skipping server: nothing here is cancelled. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NO_SLOTS } from '../../policies/workspaces/slots.ts';
import { controlQueue } from '../../schemas/queues.ts';
import type { DestroyInput } from '../../schemas/workspace/activities.ts';
import type { SlotsInput, SlotsMessage, SlotsView } from '../../schemas/workspace/slots.ts';
import { pollUntil } from '../support/poll.ts';
import {
  DELETE_FAILED,
  GONE,
  openTimeSkippingStage,
  play,
  type CoderScript,
  type Play,
  type Stage,
} from './workspace-stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openTimeSkippingStage();
});
afterAll(() => stage.close());

const ALIVE = () => ({ kind: 'alive' }) as const;

async function secondsOf(on: Play): Promise<{ seconds: number; result: object }> {
  const handle = await on.start();
  const result = await handle.result();
  const { startTime, closeTime } = await handle.describe();
  return { result, seconds: ((closeTime?.getTime() ?? 0) - startTime.getTime()) / 1000 };
}

test('[inv-12] our own timer ends a workspace at its TTL, whatever goes on in it', async () => {
  await play(stage, 'l-ttl', { ttlSeconds: 120, watch: ALIVE }, async (on) => {
    const { result, seconds } = await secondsOf(on);
    expect(result).toMatchObject({ trigger: 'timeout', reason: 'ttl', fate: 'gone', became: 'ended' });
    // The agent is asked to push inside that time.
    expect(seconds).toBeGreaterThanOrEqual(108);
    expect(seconds).toBeLessThan(130);
    expect(on.seen.calls.indexOf('push')).toBeLessThan(on.seen.calls.indexOf('refuse:c-l-ttl'));
    expect(on.seen.calls).toContain('push');
  });
});

test('[inv-13] one that is not running any more is torn down, and its owner may ask for a new generation', async () => {
  const script: CoderScript = { watch: (look) => (look < 3 ? ALIVE() : { kind: 'stale', reason: 'not_running' }) };
  await play(stage, 'l-stale', script, async (on) => {
    expect((await secondsOf(on)).result).toMatchObject({ trigger: 'failed', reason: 'not_running', fate: 'gone' });
    expect(on.seen.calls).toContain('refuse:c-l-stale');
  });
});

test('[inv-07] an executor that does not come to the door in its time ends the workspace, unused', async () => {
  const script: CoderScript = { install: () => ({ step: 'door', detail: 'its executor is not there', reason: '' }) };
  await play(stage, 'l-stuck', script, async (on) => {
    const { result, seconds } = await secondsOf(on);
    expect(result).toMatchObject({ became: 'never_ready', reason: 'stuck_door', fate: 'gone' });
    expect(seconds).toBeGreaterThanOrEqual(180);
  });
});

test('[inv-11] a delete that fails is tried again, then with the active version, each time recorded', async () => {
  const script: CoderScript = {
    watch: () => ({ kind: 'owner_closed' }),
    remove: (look) => (look <= 3 ? DELETE_FAILED : GONE),
  };
  await play(stage, 'l-retries', script, async (on) => {
    const { result, seconds } = await secondsOf(on);
    expect(result).toMatchObject({ trigger: 'abandoned', fate: 'gone' });
    expect(seconds).toBeGreaterThanOrEqual(370);
    expect(on.seen.calls.filter((call) => call.startsWith('delete'))).toEqual([
      'delete',
      'delete',
      'delete',
      'delete:active',
    ]);
    expect(on.seen.events().filter((event) => event === 'teardown retrying')).toHaveLength(3);
    expect(on.seen.recoveries.size).toBe(0);
    expect(on.seen.incidents).toEqual([]);
  });
});

test('[inv-11] one that cannot be destroyed leaves its slot for quarantine and is retried until it is gone', async () => {
  const script: CoderScript = {
    watch: () => ({ kind: 'owner_closed' }),
    remove: (look) => (look <= 6 ? DELETE_FAILED : GONE),
  };
  await play(stage, 'l-quarantine', script, async (on) => {
    const { result } = await secondsOf(on);
    // What the owner was told stays true of that time; the record says what became of it.
    expect(result).toMatchObject({ trigger: 'abandoned', fate: 'quarantined' });
    expect(on.seen.last()).toMatchObject({ state: 'gone' });
    expect(on.seen.incidents.map(({ state }) => state)).toEqual(['open', 'open', 'open', 'gone']);
    expect(on.seen.calls.filter((call) => call.startsWith('tellSlots'))).toEqual([
      'tellSlots:request',
      'tellSlots:recorded',
      'tellSlots:working',
      ...['tellSlots:suspended', 'tellSlots:suspended', 'tellSlots:suspended', 'tellSlots:suspended'],
      'tellSlots:quarantine',
      'tellSlots:resolved',
    ]);
    expect(on.seen.events()).toContain('teardown quarantined');
  });
});

test.each([
  ['orphan', 'orphaned'],
  ['close', 'closed'],
] as const)('[inv-11] an operator rules %s on a workspace that cannot be destroyed', async (ruling, state) => {
  let forgotten = false;
  const script: CoderScript = {
    watch: () => ({ kind: 'owner_closed' }),
    remove: () => (forgotten ? GONE : DELETE_FAILED),
    hold: (activity) => {
      if (activity === 'orphanWorkspace') forgotten = true;
      return undefined;
    },
  };
  await play(stage, `l-ruled-${ruling}`, script, async (on) => {
    const handle = await on.start();
    const before = await handle.executeUpdate('resolveIncident', { args: [{ ruling, by: 'op', reason: 'too early' }] });
    expect(before).toEqual({ taken: false });
    const ruled = async () => {
      for (;;) {
        if (on.seen.incidents.length > 0) break;
        await stage.sleep(30_000);
      }
      return await handle.executeUpdate('resolveIncident', { args: [{ ruling, by: 'op', reason: 'seen to it' }] });
    };
    expect(await ruled()).toEqual({ taken: true });
    await handle.result();
    expect(on.seen.incidents.at(-1)).toMatchObject({ state, ruling: { by: 'op', reason: 'seen to it' } });
    expect(on.seen.calls.includes('orphan')).toBe(ruling === 'orphan');
    expect(on.seen.calls.at(-1)).toBe('tellSlots:resolved');
    // Only what was proved is called gone.
    expect(on.seen.last().state).toBe(ruling === 'orphan' ? 'gone' : 'quarantined');
  });
});

test('[inv-11] three quarantined workspaces of a role stop new ones until one is resolved', async () => {
  const holder = (n: number) => `workspace/x/stopped/lore/${n}`;
  await play(stage, 'l-stopped', {}, async (on) => {
    for (const n of [1, 2, 3]) {
      await stage.tellSlots('lore', { kind: 'held', holder: holder(n), capacity: 9 });
      await stage.tellSlots('lore', { kind: 'quarantine', holder: holder(n) });
    }
    const handle = await on.start({ role: 'lore' });
    await stage.sleep(600_000);
    const { detail } = await handle.query<{ detail: string }>('workspaceRecord');
    expect(detail).toContain('too many workspaces of the role are quarantined');
    expect(on.seen.calls).not.toContain('create');
    await stage.tellSlots('lore', { kind: 'resolved', holder: holder(2) });
    await stage.sleep(5_000);
    expect(on.seen.calls).toContain('create');
  });
});

test('[inv-13] a destroyer under the id of its closed owner proves the workspace gone and frees the slot', async () => {
  await play(stage, 'l-orphan', { watch: ALIVE, remove: (look) => (look === 1 ? DELETE_FAILED : GONE) }, async (on) => {
    const handle = await on.start({ ticket: 'l-orphan' });
    await pollUntil(async () => (await on.told()).length > 0, { what: 'it to be ready', deadlineMs: 20_000 });
    await handle.terminate('an operator ended it');
    const destroyer = await on.client.workflow.start('destroyWorkspace', {
      taskQueue: controlQueue(stage.tenant),
      workflowId: handle.workflowId,
      args: [{ record: on.seen.last() } satisfies DestroyInput],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
    });
    expect(await destroyer.result()).toMatchObject({ trigger: 'orphaned', fate: 'gone' });
    expect(on.seen.last()).toMatchObject({ state: 'gone', trigger: 'orphaned' });
    expect(on.seen.calls).toContain('refuse:c-l-orphan');
    expect(on.seen.calls.at(-1)).toBe('tellSlots:release');
    expect(on.seen.recoveries.size).toBe(0);
  });
});

test('slots that go on in a new run keep who holds, who waits and what came in meanwhile', async () => {
  const noise: SlotsMessage[] = Array.from({ length: 1_000 }, () => ({
    kind: 'working',
    holder: 'workspace/x/y/lore/9',
  }));
  await play(stage, 'l-carried', {}, async (on) => {
    const holder = 'workspace/x/l-carried/verifier/1';
    const input: SlotsInput = {
      tenant: stage.tenant,
      role: 'verifier',
      state: NO_SLOTS,
      inbox: [{ kind: 'held', holder, capacity: 1 }, ...noise],
    };
    const handle = await on.client.workflow.start('slots', {
      taskQueue: controlQueue(stage.tenant),
      workflowId: 'l-carried-slots',
      args: [input],
    });
    const now = on.client.workflow.getHandle('l-carried-slots');
    await pollUntil(async () => (await now.describe()).runId !== handle.firstExecutionRunId, {
      what: 'a new run',
      deadlineMs: 20_000,
    });
    expect(await now.query<SlotsView>('slotsView')).toMatchObject({
      capacity: 1,
      holders: [{ holder, recorded: true }],
    });
    await now.terminate();
  });
});
