/** Every operation, on both bindings, with every kind of credential that may not use it (spec section 2). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import '../support/quiet.ts';
import { BINDINGS, exchange, operations, PROTOCOL, type Operation } from './wire.ts';
import { ask, HEAD, openWorld, type World } from './world.ts';

const PAIR = 'owned';
/** Names are fixed so that the table can be made before the world is. */
const NAMES = operations('x', ask(PAIR)).map(({ name }) => name);

const CREDENTIALS = [
  'none',
  'garbage',
  'forged',
  'expired',
  'revoked',
  'other pair',
  'other tenant',
  'forge of the pair',
  'executor of the pair',
] as const;
type Held = (typeof CREDENTIALS)[number];

let world: World;
let task = '';
const bearers = new Map<Held, string | null>();

beforeAll(async () => {
  world = await openWorld('a2a-authority');
  const owner = await world.pair(PAIR);
  task = (await world.client(owner).sendVerify(ask(PAIR), { wait: true })).id;
  const sentinel = { role: 'sentinel', use: 'agent', pair: PAIR, execution: HEAD.execution } as const;
  const expired = await world.credential({ ...sentinel, expiresAt: (await world.control.now()) - 1 });
  const forged = `${owner.slice(0, -1)}${owner.endsWith('A') ? 'B' : 'A'}`;
  for (const [held, bearer] of [
    ['none', null],
    ['garbage', 'pc1.x.y.z'],
    ['forged', forged],
    ['expired', expired],
    ['revoked', await world.credential({ ...sentinel, state: 'revoked' })],
    ['other pair', await world.credential({ ...sentinel, pair: 'elsewhere' })],
    ['other tenant', await world.credential({ ...sentinel, tenant: 'other' })],
    ['forge of the pair', await world.credential({ role: 'forge', use: 'agent', pair: PAIR })],
    [
      'executor of the pair',
      await world.credential({ role: 'verifier', use: 'executor', pair: PAIR, workspaceGeneration: 1 }),
    ],
  ] as const) {
    bearers.set(held, bearer);
  }
});
afterAll(() => world.close());

/** What each is answered, by code of the catalogue; `null` is an answer that shows nothing of the pair. */
function expected(held: Held, name: string): string | null {
  switch (held) {
    case 'none':
    case 'garbage':
    case 'forged':
    case 'expired':
    case 'revoked':
      return 'unauthenticated';
    case 'forge of the pair':
      return 'role';
    case 'executor of the pair':
      return 'not_allowed';
    case 'other pair':
      if (name.startsWith('Send')) return 'pair_mismatch';
      return foreign(name);
    case 'other tenant':
      // The name of the pair is theirs to use; in their tenant it is not open.
      return name.startsWith('Send') ? 'not_found' : foreign(name);
  }
}

function foreign(name: string): string | null {
  if (name.includes('PushNotification')) return 'push_not_supported';
  if (name === 'GetExtendedAgentCard') return 'unsupported_operation';
  return name === 'ListTasks' ? null : 'not_found';
}

const STATUS: Readonly<Record<string, number>> = {
  unauthenticated: 401,
  role: 403,
  not_allowed: 403,
  pair_mismatch: 403,
  not_found: 404,
  push_not_supported: 400,
  unsupported_operation: 400,
};

describe.each(BINDINGS)('[inv-05] on %s', (binding) => {
  describe.each(CREDENTIALS)('with the credential "%s"', (held) => {
    test.each(NAMES)('%s is refused', async (name) => {
      const operation = operations(task, ask(PAIR)).find((one) => one.name === name);
      if (operation === undefined) throw new Error(`no operation ${name}`);
      const bearer = bearers.get(held) ?? null;
      const sent = await exchange(world.url, binding, operation, {
        ...PROTOCOL,
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      });
      const code = expected(held, name);
      expect(sent.code).toBe(code);
      expect(JSON.stringify(sent.body)).not.toContain('satisfied');
      if (code === null) expect(sent.result).toMatchObject({ tasks: [], totalSize: 0 });
      else if (binding === 'HTTP+JSON' || [401, 403].includes(STATUS[code] ?? 0))
        expect(sent.status).toBe(STATUS[code]);
      else expect(sent.status).toBe(200);
      if (code === 'unauthenticated') expect(sent.headers.get('www-authenticate')).toContain('Bearer');
    });
  });

  test('a tenant that is not the credential’s own is not found, in the path and in the body', async () => {
    const bearer = await world.credential({ role: 'sentinel', use: 'agent', pair: PAIR });
    const headers = { ...PROTOCOL, authorization: `Bearer ${bearer}` };
    for (const operation of operations(task, ask(PAIR)).slice(0, 6)) {
      const sent = await exchange(world.url, binding, inTenant(operation, 'other'), headers);
      expect({ operation: operation.name, code: sent.code }).toEqual({ operation: operation.name, code: 'not_found' });
    }
    const own = operations(task, ask(PAIR)).find(({ name }) => name === 'GetTask');
    if (own === undefined) throw new Error('no GetTask');
    expect(await exchange(world.url, binding, inTenant(own, world.tenant), headers)).toMatchObject({ code: null });
  });
});

function inTenant(operation: Operation, tenant: string): Operation {
  const { http, rpc } = operation;
  return {
    ...operation,
    http: { ...http, path: `/${tenant}${http.path}` },
    rpc: { ...rpc, params: { ...Object(rpc.params), tenant } },
  };
}

test('nothing of all this started anything, and refusals of another pair are on record', async () => {
  const tasks = await world.store.listTasks(world.tenant, PAIR, { limit: 100, before: null });
  expect(tasks.map(({ taskId, state }) => ({ taskId, state }))).toEqual([{ taskId: task, state: 'completed' }]);
});
