import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { controlStore } from '../../activities/store/control.ts';
import { gatewayStore } from '../../activities/store/gateway.ts';
import { STORE_USERS, type StoreUser } from '../../activities/store/users.ts';
import { describeStores } from '../support/store-kinds.ts';
import { contentsOf, openAuditor, type Auditor } from '../support/store-auditor.ts';
import { startStoreServer, type StoreServer } from '../support/store-server.ts';
import { admitted, endingOf, unsignedEntry } from '../support/task-fixtures.ts';

describeStores("the store's own scripts, run by the wrong user,", ({ program }) => {
  let server: StoreServer;
  let auditor: Auditor;
  let connections: ReadonlyMap<StoreUser, StoreConnection>;
  const as = (user: StoreUser) => connections.get(user)!;
  const internal = { code: 'internal' };

  beforeAll(async () => {
    server = await startStoreServer({ program, extraUsers: [openAuditor.user] });
    auditor = openAuditor(server.port);
    const made = STORE_USERS.map(async (user) => [user, await connectStore(server.settings(user))] as const);
    connections = new Map(await Promise.all(made));
  });
  afterAll(async () => {
    auditor.disconnect();
    for (const connection of connections.values()) await connection.close();
    await server.close();
  });

  test.each(['gateway', 'gate', 'reader'] as const)('[inv-06] %s ends no task: nothing of it is left', async (user) => {
    const admission = await admitted(gatewayStore(as('gateway')), { pair: `end-${user}` });
    const before = await contentsOf(auditor);
    await expect(controlStore(as(user)).endTask(endingOf(admission))).rejects.toMatchObject(internal);
    expect(await contentsOf(auditor)).toEqual(before);
  });

  test.each(['gate', 'reader'] as const)('[inv-08] %s admits nothing: nothing of it is left', async (user) => {
    const before = await contentsOf(auditor);
    await expect(admitted(gatewayStore(as(user)), { pair: `admit-${user}` })).rejects.toMatchObject(internal);
    expect(await contentsOf(auditor)).toEqual(before);
  });

  test.each(['gateway', 'gate', 'reader'] as const)('[inv-05] %s makes no credential, role or head', async (user) => {
    const before = await contentsOf(auditor);
    const store = controlStore(as(user));
    const record = {
      schema: 'portcullis/credential/v1',
      id: 'mine',
      tenant: 'local',
      pair: 'T-1',
      role: 'forge',
      use: 'agent',
      workspace: '',
      workspaceGeneration: 1,
      execution: 'e1',
      expiresAt: 9_999_999_999_999,
      state: 'active',
    } as const;
    const switchOff = { schema: 'portcullis/kill-switch/v1', on: false, reason: '', by: user, at: 1 } as const;
    const head = {
      schema: 'portcullis/pair-head/v1',
      pair: 'T-1',
      headSha: 'b'.repeat(40),
      baseSha: null,
      execution: 'e2',
      generation: 2,
    } as const;
    await expect(store.writeCredential(record, null)).rejects.toMatchObject(internal);
    await expect(store.writeKillSwitch('local', switchOff)).rejects.toMatchObject(internal);
    await expect(store.writeKillSwitch(null, switchOff)).rejects.toMatchObject(internal);
    await expect(store.writeHead('local', head)).rejects.toMatchObject(internal);
    if (user !== 'gate') {
      const entry = unsignedEntry('local', 'pair_opened', {});
      await expect(store.appendAudit('local', entry)).rejects.toMatchObject(internal);
    }
    expect(await contentsOf(auditor)).toEqual(before);
  });

  test.each(['control', 'gate', 'reader', 'gateway'] as const)(
    '[inv-09] %s changes nothing of an ended task by appending, writing output or ending it again',
    async (user) => {
      const gateway = gatewayStore(as('gateway'));
      const admission = await admitted(gateway, { pair: `late-${user}` });
      await controlStore(as('control')).endTask(endingOf(admission));
      const { taskId } = admission.accepted;
      const before = await gateway.readTask('local', taskId);
      const events = await gateway.readEvents('local', taskId, 0, 100);
      const store = gatewayStore(as(user));
      const late = { type: 'output', stream: 'stdout', chunk: 0, bytes: 1 } as const;
      const appended = await store
        .appendEvent('local', taskId, { source: 'stdout', offset: 0 }, late)
        .catch(() => 'refused' as const);
      expect(appended).toBe(user === 'control' || user === 'gateway' ? null : 'refused');
      await expect(store.writeChunk('local', taskId, 'stdout', 0, Buffer.from('late'))).rejects.toThrow();
      await expect(controlStore(as(user)).endTask(endingOf(admission, 'cancelled'))).rejects.toThrow();
      expect(await gateway.readTask('local', taskId)).toEqual(before);
      expect(await gateway.readEvents('local', taskId, 0, 100)).toEqual(events);
      expect(await gateway.readResult('local', taskId)).toMatchObject({ status: 'completed' });
    },
  );
});
