import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_USER, STORE_USERS } from '../../activities/store/users.ts';
import { contentsOf, openAuditor, type Auditor } from '../support/store-auditor.ts';
import { describeStores } from '../support/store-kinds.ts';
import { startStoreServer, type StoreServer } from '../support/store-server.ts';
import { CHANGING, IMMUTABLE, keyAttacks, MAKE, SERVER_ATTACKS } from './attack-list.ts';

/** Users of the tests alone: one that sees everything, and two with rules that are known to be too wide. */
const EXTRA_USERS = [
  openAuditor.user,
  'user careless on >careless ~* -@all +@write +@read',
  'user wildcard on >wildcard -@all (-@all +pexpire ~ns:*:a2a:*)',
];
const PREFIX = 'ns:local:';
/** In the spirit of an agent's bearer: the only secret an agent has. */
const BEARER = 'pc1.local.c1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

describeStores('attacks on the store', ({ program }) => {
  let server: StoreServer;
  let auditor: Auditor;
  const clients = new Map<string, Redis>();
  const clientOf = (user: string) => clients.get(user)!;

  beforeAll(async () => {
    server = await startStoreServer({ program, extraUsers: EXTRA_USERS });
    for (const user of [...STORE_USERS, ADMIN_USER] as const) clients.set(user, raw(user, server.passwords[user]));
    for (const user of ['careless', 'wildcard']) clients.set(user, raw(user, user));
    auditor = openAuditor(server.port);
    for (const { key, type } of [...IMMUTABLE, ...CHANGING]) await send(auditor, MAKE[type](at(key)));
    await send(auditor, MAKE.string(`${PREFIX}a2a:own`));
  });
  afterAll(async () => {
    for (const client of [auditor, ...clients.values()]) client.disconnect();
    await server.close();
  });

  const raw = (username: string, password: string) =>
    new Redis({
      host: '127.0.0.1',
      port: server.port,
      username,
      password,
      protocol: 2,
      disableClientInfo: true,
      enableReadyCheck: false,
    }).on('error', () => {});
  const at = (key: string, id = 'there') => `${PREFIX}${key.replace('ID', id)}`;

  const contents = () => contentsOf(auditor);

  /** Tries the command as it is, inside a transaction, and from a script with its key declared and undeclared. */
  async function tryEveryWay(user: string, command: readonly string[], key: string | null): Promise<readonly string[]> {
    const client = clientOf(user);
    const [name = '', ...args] = command;
    const call = `return redis.call(unpack(ARGV))`;
    const keys = key === null ? ['0'] : ['1', key];
    const ways = [
      send(client, command),
      send(client, ['EVAL', call, ...keys, ...command]),
      send(client, ['EVAL', `#!lua\n${call}`, '0', ...command]),
      send(client, ['EVAL', `return redis.pcall('${name}', unpack(ARGV))`, ...keys, ...args]),
    ];
    return (await Promise.all(ways))
      .filter((answer) => !isRefusal(answer))
      .map((answer) => `${user}: ${command.join(' ')} → ${answer}`);
  }

  test.each(STORE_USERS)(
    '[inv-05] %s, the owner included, can replace, expire, hide or remove no immutable record',
    async (user) => {
      const before = await contents();
      const through: string[] = [];
      for (const { key } of IMMUTABLE) {
        for (const attack of keyAttacks(at(key))) through.push(...(await tryEveryWay(user, attack, at(key))));
      }
      expect(through).toEqual([]);
      for (const { key, writers } of IMMUTABLE) {
        const answer = await send(clientOf(user), ['SETNX', at(key), 'x']);
        expect(writers.includes(user) ? answer === '0' : isRefusal(answer), `${user} ${key} ${answer}`).toBe(true);
      }
      expect(await contents()).toEqual(before);
    },
  );

  test.each(STORE_USERS)("[inv-05] %s can change nothing of another's family, nor put anything there", async (user) => {
    const before = await contents();
    const through: string[] = [];
    for (const { key, writers } of [...IMMUTABLE, ...CHANGING]) {
      if (writers.includes(user)) continue;
      for (const target of [at(key), at(key, 'absent')]) {
        const attacks = [
          ...keyAttacks(target),
          ['SETNX', target, 'x'],
          ['HSETNX', target, 'f', 'x'],
          ['MSETNX', target, 'x'],
        ];
        for (const attack of attacks) through.push(...(await tryEveryWay(user, attack, target)));
      }
    }
    expect(through).toEqual([]);
    expect(await contents()).toEqual(before);
  });

  test.each(STORE_USERS)(
    '[inv-05] %s can neither empty the server, nor loosen its settings, nor touch its users',
    async (user) => {
      const before = await contents();
      const through: string[] = [];
      for (const attack of SERVER_ATTACKS) through.push(...(await tryEveryWay(user, attack, null)));
      expect(through).toEqual([]);
      expect(await contents()).toEqual(before);
      expect(await auditor.config('GET', 'append*')).toEqual(expect.arrayContaining(['appendfsync', 'always']));
    },
  );

  test('[inv-05] the administrator can read and write no key', async () => {
    const before = await contents();
    for (const { key } of [...IMMUTABLE, ...CHANGING]) {
      for (const attack of [...keyAttacks(at(key)), ['GET', at(key)], ['SETNX', at(key, 'absent'), 'x']]) {
        expect(await tryEveryWay(ADMIN_USER, attack, at(key))).toEqual([]);
      }
    }
    expect(await contents()).toEqual(before);
  });

  test('[inv-05] an agent has no user: nothing without a password, with its bearer, or as default', async () => {
    const attempts = [
      [],
      ['AUTH', BEARER],
      ['AUTH', 'default', ''],
      ...[...STORE_USERS, 'default', 'forge', 'sentinel'].map((user) => ['AUTH', user, BEARER]),
    ];
    for (const attempt of attempts) {
      const client = new Redis({
        host: '127.0.0.1',
        port: server.port,
        protocol: 2,
        disableClientInfo: true,
        enableReadyCheck: false,
      });
      client.on('error', () => {});
      if (attempt.length > 0) expect(await send(client, attempt)).toMatch(/WRONGPASS|invalid username-password/);
      expect(await send(client, ['GET', at('decision:ID')])).toMatch(/NOAUTH/);
      expect(await send(client, ['SET', at('decision:ID', 'absent'), 'x'])).toMatch(/NOAUTH/);
      client.disconnect();
    }
  });

  test('[inv-05] a tenant that is not of the installation has no keys that anybody can write', async () => {
    for (const user of STORE_USERS) {
      expect(await send(clientOf(user), ['SETNX', 'ns:stranger:decision:x', 'x'])).toMatch(/NOPERM/);
      expect(await send(clientOf(user), ['GET', 'ns:stranger:decision:x'])).toMatch(/NOPERM/);
      expect(await send(clientOf(user), ['SETNX', 'no-namespace', 'x'])).toMatch(/NOPERM/);
    }
  });

  // The rules are what stops these attacks: with rules known to be too wide the same attacks go through.
  test('[inv-05] the attacks are real: a user with the category @write empties the store', async () => {
    const copy = 'ns:local:decision:guarded';
    await auditor.set(copy, 'kept');
    expect(await send(clientOf('careless'), ['SET', copy, 'x'])).toBe('OK');
    expect(await send(clientOf('careless'), ['GETDEL', copy])).toBe('x');
    expect(await send(clientOf('gate'), ['FLUSHALL'])).toMatch(/NOPERM/);
  });

  test('[inv-05] the attacks are real: a pattern with a wildcard for the tenant expires a result', async () => {
    const result = at('audit:a2a:ID:result', 'guarded');
    await auditor.set(result, 'kept');
    expect(await send(clientOf('wildcard'), ['PEXPIRE', result, '60000'])).toBe('1');
    expect(await send(clientOf('gateway'), ['PEXPIRE', result, '60000'])).toMatch(/NOPERM/);
  });
});

async function send(client: Redis, command: readonly string[]): Promise<string> {
  const [name = '', ...args] = command;
  try {
    return String(await client.call(name, ...args));
  } catch (thrown) {
    return `! ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

/** Refused by the rules, or no command at all; an error of type or syntax would only have failed by luck. */
function isRefusal(answer: string): boolean {
  return /NOPERM|ACL failure in script|can't (run this|access)|no permissions|not allowed from script|command not allowed\. If the enable|unknown (command|subcommand)|Unknown Redis command|MONITOR isn't/i.test(
    answer,
  );
}
