import { beforeAll, expect, test } from 'vitest';
import { lifecycleReader, lifecycleStore } from '../../activities/store/lifecycle.ts';
import type { LifecycleStore } from '../../activities/store/lifecycle-port.ts';
import type { PairRoles } from '../../schemas/pair.ts';
import type { LifecycleDraft, WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import { workspaceName } from '../../schemas/workspace/name.ts';
import { describeStores } from '../support/store-kinds.ts';
import { useStoreStage } from '../support/store-stage.ts';

const CAP = 20;

describeStores('workspaces in the store', ({ program }) => {
  const stage = useStoreStage(program);
  let store: LifecycleStore;
  beforeAll(() => {
    store = lifecycleStore(stage().controlConnection, CAP);
  });

  test('a write keeps record and events together, and repeating it changes nothing', async () => {
    const record = recordOf('once');
    const events = [draftOf(record, 'detect', 'done'), draftOf(record, 'assign', 'begun')];
    const { lastSeq } = await store.readEventRing('local', 0, 1);
    for (let times = 0; times < 3; times += 1) {
      await store.recordLifecycle({ tenant: 'local', source: 'run-1', n: 1, record, events });
    }
    expect(await store.readWorkspace('local', record.id)).toEqual(record);
    const page = await store.readEventRing('local', lastSeq, 10);
    expect(page.events.map(({ phase, outcome }) => `${phase} ${outcome}`)).toEqual(['detect done', 'assign begun']);
    expect(page.events.map(({ seq }) => seq)).toEqual([lastSeq + 1, lastSeq + 2]);
  });

  test('what comes late from the same run is dropped, and another run of the owner goes on', async () => {
    const record = recordOf('late');
    const write = (source: string, n: number, detail: string) =>
      store.recordLifecycle({ tenant: 'local', source, n, record: { ...record, detail }, events: [] });
    await write('run-1', 2, 'second');
    await write('run-1', 1, 'first');
    expect(await store.readWorkspace('local', record.id)).toMatchObject({ detail: 'second' });
    await write('run-2', 1, 'destroyer');
    expect(await store.readWorkspace('local', record.id)).toMatchObject({ detail: 'destroyer' });
  });

  test('the ring keeps the newest, numbers without a gap, and says how many fell off', async () => {
    const record = recordOf('ring');
    const write = (n: number) =>
      store.recordLifecycle({
        tenant: 'local',
        source: 'ring',
        n,
        record,
        events: [draftOf(record, 'execute', String(n))],
      });
    for (let n = 1; n <= CAP + 5; n += 1) await write(n);
    const { events, fellOff, lastSeq } = await store.readEventRing('local', 0, 1_000);
    expect(events).toHaveLength(CAP);
    expect(fellOff).toBe(lastSeq - CAP);
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: CAP }, (_, at) => lastSeq - CAP + 1 + at));
    expect(events.at(-1)).toMatchObject({ outcome: String(CAP + 5), workspace: record.id });
  });

  test('only what is not over is listed as open', async () => {
    const record = recordOf('listed');
    const write = (n: number, change: Partial<WorkspaceRecord>) =>
      store.recordLifecycle({ tenant: 'local', source: 'run', n, record: { ...record, ...change }, events: [] });
    const open = async () => (await store.listOpenWorkspaces('local')).map(({ id }) => id);
    await write(1, {});
    expect(await open()).toContain(record.id);
    await write(2, { state: 'gone', endedAt: 7 });
    expect(await open()).not.toContain(record.id);
    const [newest] = await lifecycleReader(stage().controlConnection).listWorkspaces('local', 5);
    expect(newest).toMatchObject({ id: record.id, state: 'gone' });
  });

  test('two roles of a pair are seated side by side, and an older workspace never replaces a newer one', async () => {
    const roles: PairRoles = {
      schema: 'portcullis/pair-roles/v1',
      pair: 'T-seats',
      roles: ['forge', 'sentinel', 'verifier'],
      routing: { default: 'verifier', permitted: ['verifier'] },
      workspaces: {},
      baseBranch: 'main',
    };
    await stage().control.writeRoles('local', roles);
    const seat = (role: 'forge' | 'verifier', generation: number) =>
      store.seatWorkspace('local', 'T-seats', role, { name: `${role}-${generation}`, generation });
    await Promise.all([seat('forge', 1), seat('verifier', 1), seat('forge', 1), seat('verifier', 1)]);
    await seat('forge', 2);
    await expect(seat('forge', 1)).rejects.toMatchObject({ code: 'state_conflict' });
    expect((await stage().reader.readRoles('local', 'T-seats'))?.workspaces).toEqual({
      forge: { name: 'forge-2', generation: 2 },
      verifier: { name: 'verifier-1', generation: 1 },
    });
    await expect(store.seatWorkspace('local', 'T-none', 'forge', { name: 'x', generation: 1 })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('recoveries are open until they are closed; incidents stay', async () => {
    const record = recordOf('recovery');
    await store.openRecovery('local', {
      schema: 'portcullis/recovery/v1',
      run: record.run,
      kind: 'orphan',
      ticket: 'T-1',
      workspace: record.id,
      attempts: 1,
      reason: 'owner_closed',
      openedAt: 1,
    });
    expect(await store.listRecoveries('local')).toHaveLength(1);
    await store.closeRecovery('local', record.run);
    expect(await store.listRecoveries('local')).toEqual([]);
    const incident = {
      schema: 'portcullis/incident/v1',
      id: record.id,
      run: record.run,
      ticket: 'T-1',
      role: 'forge',
      coderWorkspaceId: 'w1',
      state: 'open',
      attempts: 4,
      reason: 'delete_failed',
      openedAt: 5,
      closedAt: null,
      ruling: null,
    } as const;
    await store.writeIncident('local', incident);
    await store.writeIncident('local', { ...incident, state: 'gone', closedAt: 9 });
    expect(await store.listIncidents('local', 10)).toEqual([{ ...incident, state: 'gone', closedAt: 9 }]);
    await store.writeSuspects('local', ['destroy x']);
    expect(await store.readSuspects('local')).toEqual(['destroy x']);
  });
});

function recordOf(ticket: string): WorkspaceRecord {
  const run = `workspace/local/${ticket}/forge/1`;
  return {
    schema: 'portcullis/workspace/v1',
    id: workspaceName(run),
    run,
    tenant: 'local',
    ticket,
    role: 'forge',
    workspaceGeneration: 1,
    execution: { id: 'e1', generation: 1 },
    purpose: 'building',
    owner: `ticket/local/${ticket}`,
    state: 'waiting',
    phase: 'assign',
    waitingOn: 'slot',
    detail: 'place 1 of 1',
    coderWorkspaceId: null,
    credentials: ['c1'],
    startedAt: 1,
    readyAt: null,
    deadline: null,
    latestDeadline: null,
    trigger: null,
    endedAt: null,
  };
}

function draftOf(record: WorkspaceRecord, phase: string, outcome: string): LifecycleDraft {
  return {
    ticket: record.ticket,
    role: record.role,
    workspace: record.id,
    generation: record.workspaceGeneration,
    phase,
    outcome,
    detail: '',
  };
}
