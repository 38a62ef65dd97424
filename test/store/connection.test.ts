import { afterEach, expect, test } from 'vitest';
import { checkStoreSafety, connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { STORE_USERS } from '../../activities/store/users.ts';
import { pollUntil } from '../support/poll.ts';
import { openAuditor } from '../support/store-auditor.ts';
import { describeStores } from '../support/store-kinds.ts';
import { startStoreServer, type StoreServer, type StoreServerOptions } from '../support/store-server.ts';

describeStores('a connection to the store', ({ program }) => {
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

  test('is believed by every user when the server is safe, and the server has no findings', async () => {
    const server = await serve();
    for (const user of STORE_USERS) {
      const connection = await connectStore(server.settings(user));
      expect(connection.isBelieved()).toBe(true);
      await connection.close();
      await expect(connection.run((redis) => redis.ping())).rejects.toMatchObject(away);
    }
    expect(await checkStoreSafety(server.settings('admin'))).toEqual([]);
  });

  test.each([
    ['everysec', ['--appendfsync', 'everysec'], 'appendfsync is everysec'],
    ['no append-only file', ['--appendonly', 'no'], 'appendonly is no'],
    ['eviction', ['--maxmemory-policy', 'allkeys-lru'], 'maxmemory-policy is allkeys-lru'],
    ['no fsync during a rewrite', ['--no-appendfsync-on-rewrite', 'yes'], 'no-appendfsync-on-rewrite'],
    ['cluster mode', ['--cluster-enabled', 'yes'], 'cluster mode is on'],
  ])('[inv-18] to a server with %s is refused by name', async (_, extraArguments, reason) => {
    const server = await serve({ extraArguments });
    await expect(connectStore(server.settings('control'))).rejects.toMatchObject({
      code: 'store_unsafe',
      message: expect.stringContaining(reason) as string,
    });
    const findings = await checkStoreSafety(server.settings('admin'));
    expect(findings).toMatchObject([{ severity: 'unsafe', detail: expect.stringContaining(reason) as string }]);
  });

  // redis#14541, valkey#3983: such a server starts empty after a crash, because every script is a transaction there.
  test('[inv-18] to a server whose user default may not write is refused: it would drop what it loads', async () => {
    const withoutRights = (text: string) => text.replace(/^user default .*$/m, 'user default off resetkeys -@all');
    const server = await serve({ editAcl: withoutRights });
    const reason = 'the user default may not write';
    await expect(connectStore(server.settings('control'))).rejects.toMatchObject({
      code: 'store_unsafe',
      message: expect.stringContaining(reason) as string,
    });
    expect(await checkStoreSafety(server.settings('admin'))).toMatchObject([{ code: 'default_user' }]);
  });

  test('[inv-18] is checked again after each reconnect, and believed again once the server is mended', async () => {
    const server = await serve({ extraUsers: [openAuditor.user] });
    const root = openAuditor(server.port);
    const connection = await connect(server);
    try {
      await root.config('SET', 'appendfsync', 'everysec');
      await root.call('CLIENT', 'KILL', 'USER', 'gateway');
      const unsafe = await pollUntil(
        () =>
          connection
            .run((redis) => redis.ping())
            .then(
              () => null,
              (thrown: unknown) => (isCode(thrown, 'store_unsafe') ? thrown : null),
            ),
        { what: 'the unsafe server to be noticed' },
      );
      expect(String(unsafe)).toContain('appendfsync is everysec');
      expect(connection.isBelieved()).toBe(false);
      await root.config('SET', 'appendfsync', 'always');
      await pollUntil(() => connection.isBelieved(), { what: 'the mended server to be believed' });
      expect(await connection.run((redis) => redis.ping())).toBe('PONG');
    } finally {
      root.disconnect();
    }
  });

  test('with the wrong password, or where nobody listens, fails in time and by name', async () => {
    const server = await serve();
    const wrong = { ...server.settings('gateway'), password: 'wrong', connectTimeoutMs: 700 };
    await expect(connectStore(wrong)).rejects.toMatchObject(away);
    await server.kill9();
    const start = performance.now();
    await expect(connectStore({ ...server.settings('gateway'), connectTimeoutMs: 700 })).rejects.toMatchObject(away);
    expect(performance.now() - start).toBeLessThan(2_000);
    await expect(checkStoreSafety(server.settings('admin'))).rejects.toMatchObject(away);
  });
});

function isCode(thrown: unknown, code: string): boolean {
  return typeof thrown === 'object' && thrown !== null && Reflect.get(thrown, 'code') === code;
}
