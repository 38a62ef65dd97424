import { afterEach, expect, test } from 'vitest';
import { checkStoreSafety, connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { controlStore } from '../../activities/store/control.ts';
import { gatewayStore } from '../../activities/store/gateway.ts';
import { pollUntil } from '../support/poll.ts';
import { openAuditor } from '../support/store-auditor.ts';
import { describeStores } from '../support/store-kinds.ts';
import { startStoreServer, type StoreServer, type StoreServerOptions } from '../support/store-server.ts';
import { admissionOf, admitted, endingOf, resolvedRequest } from '../support/task-fixtures.ts';

describeStores('while the server of the store', ({ program }) => {
  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).toReversed()) await close();
  });

  async function serve(options: StoreServerOptions = {}): Promise<StoreServer> {
    const server = await startStoreServer({ program, ...options });
    opened.push(() => server.close());
    return server;
  }
  async function connect(server: StoreServer, user: 'control' | 'gateway' = 'gateway'): Promise<StoreConnection> {
    const connection = await connectStore({ ...server.settings(user), commandTimeoutMs: 1_000 });
    opened.push(() => connection.close());
    return connection;
  }
  const away = { code: 'store_unavailable' };

  test('[inv-19] is frozen, calls end in time, later ones at once, none is queued, and it recovers', async () => {
    const server = await serve();
    const connection = await connect(server);
    const store = gatewayStore(connection);
    await store.readTask('local', 'x');
    server.stop();
    try {
      let start = performance.now();
      const first = await Promise.allSettled(Array.from({ length: 50 }, () => store.readTask('local', 'x')));
      expect(performance.now() - start).toBeLessThan(2_500);
      for (const answer of first) expect(answer).toMatchObject({ status: 'rejected', reason: away });
      await pollUntil(() => !connection.isBelieved(), { what: 'the frozen server to be given up' });
      start = performance.now();
      const many = await Promise.allSettled(Array.from({ length: 5_000 }, () => store.readTask('local', 'x')));
      expect(performance.now() - start).toBeLessThan(500);
      for (const answer of many) expect(answer).toMatchObject({ status: 'rejected', reason: away });
    } finally {
      server.cont();
    }
    await pollUntil(() => connection.isBelieved(), { what: 'the server to be believed again' });
    expect(await store.readTask('local', 'x')).toBeNull();
  });

  test('[inv-19] is frozen, no more than a bounded number of calls waits', async () => {
    const server = await serve();
    const connection = await connect(server);
    server.stop();
    const calls = Array.from({ length: 5_000 }, () => connection.run((redis) => redis.ping()));
    const reasons = (await Promise.allSettled(calls)).map((answer) =>
      answer.status === 'rejected' ? String(answer.reason) : 'answered',
    );
    server.cont();
    expect(reasons.filter((reason) => reason.includes('too many calls at once'))).toHaveLength(5_000 - 4_096);
    expect(reasons).not.toContain('answered');
  });

  test('[inv-18] is killed in the middle of writing, everything acknowledged is there afterwards', async () => {
    const server = await serve();
    const gateway = gatewayStore(await connect(server));
    const connection = await connect(server, 'control');
    const control = controlStore(connection);
    const ended = await admitted(gateway, { pair: 'ended' });
    await control.endTask(endingOf(ended));
    const { accepted } = await admitted(gateway, { pair: 'writing' });
    const acknowledged = new Map<number, number>();
    let offset = 0;
    const writers = Array.from({ length: 8 }, async () => {
      for (;;) {
        const chunk = (offset += 1);
        const event = { type: 'output', stream: 'stdout', chunk, bytes: 1 } as const;
        const seq = await gateway
          .appendEvent('local', accepted.taskId, { source: 'stdout', offset: chunk }, event)
          .catch(() => null);
        if (seq === null) return;
        acknowledged.set(seq, chunk);
      }
    });
    await pollUntil(() => acknowledged.size >= 300, { what: 'some writing' });
    await server.kill9();
    await Promise.all(writers);
    await expect(gateway.readTask('local', accepted.taskId)).rejects.toMatchObject(away);
    await server.restart();
    await pollUntil(() => connection.isBelieved(), { what: 'the restarted server to be believed' });

    const events = await controlEvents(accepted.taskId, control);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const chunks = new Map(events.map(({ seq, event }) => [seq, event.type === 'output' ? event.chunk : 0]));
    for (const [seq, chunk] of acknowledged) expect(chunks.get(seq)).toBe(chunk);
    expect(await control.readResult('local', ended.accepted.taskId)).toEqual(endingOf(ended).result);
    expect(await control.readTask('local', ended.accepted.taskId)).toMatchObject({ state: 'completed' });
    // What was sent twice around the crash is one ending.
    await control.endTask(endingOf(ended));
  });

  test('is full, admission is refused by name and leaves nothing', async () => {
    const server = await serve({ maxMemoryBytes: 512 * 1024, extraUsers: [openAuditor.user] });
    const connection = await connect(server);
    const gateway = gatewayStore(connection);
    const admission = admissionOf(resolvedRequest(), { nextN: 1, nextSequence: 1, now: 1 });
    await expect(gateway.admit(admission)).rejects.toMatchObject({ code: 'store_full' });
    expect(await gateway.memoryUse()).toBeGreaterThan(0.8);
    expect(await checkStoreSafety(server.settings('admin'))).toMatchObject([{ code: 'memory_low' }]);
    const auditor = openAuditor(server.port);
    expect(await auditor.dbsize()).toBe(0);
    auditor.disconnect();
  });
});

async function controlEvents(taskId: string, store: ReturnType<typeof controlStore>) {
  const events = [];
  for (;;) {
    const page = await store.readEvents('local', taskId, events.length, 500);
    if (page.length === 0) return events;
    events.push(...page);
  }
}
