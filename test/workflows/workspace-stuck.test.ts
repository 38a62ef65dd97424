/** Workspaces that Coder keeps: each teardown ends, by a proof or by an incident that an operator can rule on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { controlQueue } from '../../schemas/queues.ts';
import type { DestroyInput, StrayInput } from '../../schemas/workspace/activities.ts';
import type { SlotsView } from '../../schemas/workspace/slots.ts';
import type { WorkspaceEnded } from '../../schemas/workspace/workflow.ts';
import { slotsWorkflowId, strayWorkflowId } from '../../schemas/workflow-ids.ts';
import type { CarriedQuarantine } from '../../workflows/workspace/workflow.ts';
import { pollUntil } from '../support/poll.ts';
import {
  DELETE_FAILED,
  GONE,
  openTimeSkippingStage,
  play,
  type CoderScript,
  type Play,
  type Stage,
  type WorkspaceHandle,
} from './workspace-stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openTimeSkippingStage();
});
afterAll(() => stage.close());

const OWNER_CLOSED = () => ({ kind: 'owner_closed' }) as const;

async function untilQuarantined({ seen }: Play): Promise<void> {
  for (let minute = 0; seen.incidents.length === 0; minute += 1) {
    if (minute === 600) throw new Error('no incident came in ten hours');
    await stage.sleep(60_000);
  }
}

function startDestroyer({ client, seen }: Play, { workflowId }: WorkspaceHandle, carried: CarriedQuarantine | null) {
  const input: DestroyInput = { record: seen.last() };
  return client.workflow.start<(of: DestroyInput, carried: CarriedQuarantine | null) => Promise<WorkspaceEnded>>(
    'destroyWorkspace',
    {
      taskQueue: controlQueue(stage.tenant),
      workflowId,
      args: [input, carried],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
    },
  );
}

test('[inv-11] a quarantined workspace whose workflow was terminated is over once a destroyer proves it gone', async () => {
  let stuck = true;
  const script: CoderScript = { watch: OWNER_CLOSED, remove: () => (stuck ? DELETE_FAILED : GONE) };
  await play(stage, 's-terminated', script, async (on) => {
    const handle = await on.start({ role: 'sentinel' });
    await untilQuarantined(on);
    const view = () =>
      on.client.workflow
        .getHandle(slotsWorkflowId({ tenant: stage.tenant, role: 'sentinel' }))
        .query<SlotsView>('slotsView');
    await pollUntil(async () => (await view()).quarantined.length === 1, {
      what: 'the quarantine',
      deadlineMs: 20_000,
    });
    await handle.terminate('an operator ended it');
    stuck = false;
    const destroyer = await startDestroyer(on, handle, null);
    expect(await destroyer.result()).toMatchObject({ trigger: 'orphaned', fate: 'gone' });
    expect(on.seen.incidents.at(-1)).toMatchObject({ state: 'gone', ruling: null });
    expect(on.seen.incidents.at(-1)?.closedAt).not.toBeNull();
    expect(on.seen.last()).toMatchObject({ state: 'gone' });
    await pollUntil(async () => (await view()).quarantined.length === 0, { what: 'its end', deadlineMs: 20_000 });
    expect(await view()).toMatchObject({ holders: [], stopped: false });
  });
});

test('[inv-11] a destroyer that fails as well goes on with the incident that is open, and is ruled on', async () => {
  const script: CoderScript = { watch: OWNER_CLOSED, remove: () => DELETE_FAILED };
  await play(stage, 's-goes-on', script, async (on) => {
    const handle = await on.start();
    await untilQuarantined(on);
    const [first] = on.seen.incidents;
    await handle.terminate('an operator ended it');
    const destroyer = await startDestroyer(on, handle, null);
    // The incident is open all along, so a ruling is taken while the first attempts go on.
    await pollUntil(() => on.seen.events().at(-1) === 'teardown retrying', { what: 'an attempt', deadlineMs: 20_000 });
    const ruling = { ruling: 'close', by: 'op', reason: 'seen to it' } as const;
    const ruled = await on.client.workflow
      .getHandle(handle.workflowId)
      .executeUpdate('resolveIncident', { args: [ruling] });
    expect(ruled).toEqual({ taken: true });
    await destroyer.result();
    expect(on.seen.incidents.at(-1)).toMatchObject({ state: 'closed', openedAt: first?.openedAt, ruling });
  });
});

test('[inv-11] one that a person closed and that exists all the same is the same incident, open again, with that ruling', async () => {
  const incidents = () => stage.plays.get('s-closed')?.seen.incidents ?? [];
  const openAgain = () => incidents().findLast(({ state }) => state !== 'gone')?.state === 'open' && wasClosed();
  const wasClosed = () => incidents().some(({ state }) => state === 'closed');
  const script: CoderScript = { watch: OWNER_CLOSED, remove: () => (openAgain() ? GONE : DELETE_FAILED) };
  await play(stage, 's-closed', script, async (on) => {
    const handle = await on.start();
    await untilQuarantined(on);
    const [first] = on.seen.incidents;
    const ruling = { ruling: 'close', by: 'op', reason: 'it is gone, I looked' } as const;
    await on.client.workflow.getHandle(handle.workflowId).executeUpdate('resolveIncident', { args: [ruling] });
    await handle.result();
    const destroyer = await startDestroyer(on, handle, null);
    expect(await destroyer.result()).toMatchObject({ fate: 'quarantined' });
    expect(incidents().map(({ state }) => state)).toEqual(['open', 'closed', 'open', 'gone']);
    const { openedAt } = first ?? {};
    expect(incidents()[2]).toMatchObject({ openedAt, closedAt: null, ruling });
    expect(incidents()[3]).toMatchObject({ openedAt, ruling });
    expect(on.seen.last()).toMatchObject({ state: 'gone' });
  });
});

test.each([
  ['coder_unavailable', (over) => ({ remove: () => (over() ? GONE : 'coder_unavailable') })],
  ['coder_conflict', (over) => ({ remove: () => (over() ? GONE : 'coder_conflict') })],
  ['coder_rate_limited', (over) => ({ create: () => 'coder_refused', located: () => over() || 'coder_rate_limited' })],
] satisfies readonly (readonly [string, (over: () => boolean) => CoderScript])[])(
  '[inv-11] a delete that is answered by %s for good fails its attempts, each recorded, and becomes an incident',
  async (code, scripted) => {
    const incidents = () => stage.plays.get(`s-${code}`)?.seen.incidents ?? [];
    const script = scripted(() => incidents().length > 0);
    await play(stage, `s-${code}`, { watch: OWNER_CLOSED, ...script }, async (on) => {
      const handle = await on.start();
      expect(await handle.result()).toMatchObject({ fate: 'quarantined' });
      expect(on.seen.events().filter((event) => event === 'teardown retrying')).toHaveLength(4);
      expect(incidents().map(({ state }) => state)).toEqual(['open', 'gone']);
    });
  },
);

test('[inv-19] words of a ruling that no record can hold are made such, and fail nothing', async () => {
  await play(stage, 's-ruled', { watch: OWNER_CLOSED, remove: () => DELETE_FAILED }, async (on) => {
    const handle = await on.start();
    await untilQuarantined(on);
    const ruling = { ruling: 'close', by: 'op', reason: `half a pair: ${'\u{1f600}'.slice(0, 1)}` };
    expect(await handle.executeUpdate('resolveIncident', { args: [ruling] })).toEqual({ taken: true });
    await handle.result();
    expect(on.seen.incidents.at(-1)).toMatchObject({ state: 'closed', ruling: { reason: 'half a pair: \ufffd' } });
  });
});

test('[inv-11] a stray whose delete is refused for good is given up, recorded, for the reconciler to come again', async () => {
  const name = 's-stray';
  await play(stage, name, { remove: () => 'coder_conflict' }, async ({ client, seen }) => {
    const input: StrayInput = { tenant: stage.tenant, coderWorkspaceId: `w-${name}`, name };
    const isGone = await client.workflow.execute<(of: StrayInput) => Promise<boolean>>('destroyStray', {
      taskQueue: controlQueue(stage.tenant),
      workflowId: strayWorkflowId(input),
      args: [input],
    });
    expect(isGone).toBe(false);
    expect([...seen.recoveries.values()]).toMatchObject([{ kind: 'stray', attempts: 5, reason: 'coder_conflict' }]);
  });
});

test('[inv-07] a workspace of which Coder never says how far it is ends unused, and frees its slot', async () => {
  await play(stage, 's-unseen', { install: () => 'coder_unavailable' }, async (on) => {
    const handle = await on.start();
    expect(await handle.result()).toMatchObject({ became: 'never_ready', fate: 'gone' });
    expect(on.seen.calls.at(-1)).toBe('tellSlots:release');
  });
});

test.each([
  ['refused', (asked) => (asked === 1 ? 'coder_unavailable' : 'coder_forbidden')],
  ['released', () => 'coder_unavailable'],
] satisfies readonly (readonly [string, CoderScript['create']])[])(
  '[inv-10] a create whose answer was lost is waited out, though the attempt after it was %s',
  async (how, create) => {
    // It lands after the first look.
    const script: CoderScript = { create, located: (asked) => asked > 1 };
    await play(stage, `s-lands-late-${how}`, script, async (on) => {
      const handle = await on.start();
      if (how === 'released') {
        await pollUntil(() => on.seen.calls.includes('create'), { what: 'the create', deadlineMs: 20_000 });
        await handle.signal('releaseWorkspace', { trigger: 'superseded', reason: 'planned anew' });
      }
      expect(await handle.result()).toMatchObject({ became: 'never_ready', fate: 'gone' });
      expect(on.seen.calls.filter((call) => call === 'locate')).toHaveLength(2);
      expect(on.seen.calls).toContain('delete');
    });
  },
);

test('[inv-19] text of Coder that a cut leaves with half a pair fails no teardown', async () => {
  const detail = `${'x'.repeat(511)}\u{1f600}`;
  const script: CoderScript = {
    watch: OWNER_CLOSED,
    remove: (look) => (look === 1 ? { ...DELETE_FAILED, detail } : GONE),
  };
  await play(stage, 's-half-a-pair', script, async (on) => {
    const handle = await on.start();
    expect(await handle.result()).toMatchObject({ fate: 'gone' });
    expect(on.seen.events()).toContain('teardown retrying');
  });
});

test('the first ruling counts: one that comes while it is obeyed is too late, and is not taken', async () => {
  const open = Promise.withResolvers<undefined>();
  let held = false;
  const script: CoderScript = {
    watch: OWNER_CLOSED,
    remove: () => (held ? GONE : DELETE_FAILED),
    hold: (activity) => {
      if (activity !== 'advanceDelete' || (stage.plays.get('s-first')?.seen.incidents.length ?? 0) === 0)
        return undefined;
      held = true;
      return open.promise;
    },
  };
  await play(stage, 's-first', script, async (on) => {
    const handle = await on.start();
    await untilQuarantined(on);
    const rule = (ruling: string) =>
      handle.executeUpdate('resolveIncident', { args: [{ ruling, by: 'op', reason: 'now' }] });
    expect(await rule('retry')).toEqual({ taken: true });
    await pollUntil(() => held, { what: 'the attempt', deadlineMs: 20_000 });
    expect(await rule('close')).toEqual({ taken: false });
    open.resolve(undefined);
    await handle.result();
    expect(on.seen.incidents.at(-1)).toMatchObject({ state: 'gone', ruling: { ruling: 'retry' } });
  });
});

test('[inv-11] a ruling that was taken during the last attempt of a run is obeyed in the next', async () => {
  const open = Promise.withResolvers<undefined>();
  let attempts = 0;
  const script: CoderScript = {
    watch: OWNER_CLOSED,
    remove: () => DELETE_FAILED,
    hold: (activity) => {
      if (activity === 'advanceDelete') attempts += 1;
      return activity === 'advanceDelete' && attempts === LAST_OF_A_RUN ? open.promise : undefined;
    },
  };
  await play(stage, 's-carried', script, async (on) => {
    const handle = await on.start();
    const result = handle.result();
    await pollUntil(() => attempts === LAST_OF_A_RUN, { what: 'the last attempt of the run', deadlineMs: 60_000 });
    const ruling = { ruling: 'close', by: 'op', reason: 'seen to it' } as const;
    expect(await handle.executeUpdate('resolveIncident', { args: [ruling] })).toEqual({ taken: true });
    open.resolve(undefined);
    await result;
    expect(on.seen.incidents.at(-1)).toMatchObject({ state: 'closed', ruling });
    expect(attempts).toBe(LAST_OF_A_RUN);
  });
});

/** Four before there is an incident, then a hundred. */
const LAST_OF_A_RUN = 104;
