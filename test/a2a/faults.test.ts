/** Dependencies that are away, refuse, or answer too late: nothing is half-accepted, nothing accepted is lost. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import '../support/quiet.ts';
import type { GatewayStore } from '../../activities/store/port.ts';
import { admit } from '../../gateway/a2a/admit.ts';
import { freePort } from '../../local/ports.ts';
import { sweepClaims } from '../../gateway/a2a/start.ts';
import { parseWireRequest } from '../../schemas/verify/request.schema.ts';
import { pollUntil } from '../support/poll.ts';
import { admitted } from '../support/task-fixtures.ts';
import { executorReport } from '../support/verify-fixture.ts';
import { gate } from './gate.ts';
import { exchange, message, PROTOCOL, type Operation } from './wire.ts';
import { ask, HEAD, openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld('a2a-faults');
});
afterAll(() => world.close());

function sendOf(pair: string, messageId: string, attempt = 1): Operation {
  const params = { message: message(ask(pair, { attempt }), messageId), configuration: { returnImmediately: true } };
  return {
    name: 'SendMessage',
    http: { method: 'POST', path: '/message:send', body: params },
    rpc: { method: 'SendMessage', params },
  };
}

const headersOf = (bearer: string) => ({ ...PROTOCOL, authorization: `Bearer ${bearer}` });

async function claimed(pair: string): Promise<number> {
  return (await world.store.listTasks(world.tenant, pair, { limit: 10, before: null })).length;
}

describe('with Temporal away', () => {
  test('[inv-18] a send is 503 with Retry-After on both bindings, and nothing is claimed', async () => {
    const bearer = await world.pair('away');
    const replica = await world.replica({ temporalAddress: `127.0.0.1:${await freePort()}`, sweeps: false });
    for (const binding of ['HTTP+JSON', 'JSONRPC'] as const) {
      const sent = await exchange(replica.url, binding, sendOf('away', 'm'), headersOf(bearer));
      expect(sent).toMatchObject({ status: 503, code: 'temporal_unavailable' });
      expect(sent.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    expect(await claimed('away')).toBe(0);
    expect(await world.store.unconfirmedClaims(world.tenant, 0, 10)).toEqual([]);
    // The same message is as good as new where Temporal answers.
    const sent = await exchange(world.url, 'HTTP+JSON', sendOf('away', 'm'), headersOf(bearer));
    expect(sent.code).toBeNull();
    await replica.close();
  });

  test('a start that Temporal certainly refused frees claim and messageId', async () => {
    const bearer = await world.pair('refused-start');
    const replica = await world.replica({ namespace: 'nowhere', sweeps: false });
    const sent = await exchange(replica.url, 'HTTP+JSON', sendOf('refused-start', 'm'), headersOf(bearer));
    expect(sent).toMatchObject({ status: 503, code: 'temporal_unavailable' });
    expect(await world.store.unconfirmedClaims(world.tenant, 0, 10)).toEqual([]);
    const again = await exchange(world.url, 'HTTP+JSON', sendOf('refused-start', 'm'), headersOf(bearer));
    expect(again.code).toBeNull();
    await replica.close();
  });
});

describe('an accepted request whose start nobody knows of', () => {
  test('[inv-08] is started by the sweep, once, however many sweep', async () => {
    let runs = 0;
    const bearer = await world.pair('swept', () => {
      runs += 1;
      return Promise.resolve(executorReport());
    });
    const id = await acceptOnly('swept');
    const replica = await world.replica({ sweeps: false });
    await Promise.all([sweepClaims(replica.ctx, 0), sweepClaims(replica.ctx, 0), sweepClaims(replica.ctx, 0)]);
    const client = world.client(bearer);
    await pollUntil(async () => (await client.getTask(id)).state === 'completed', { what: 'the swept run' });
    expect(runs).toBe(1);
    expect(await world.store.unconfirmedClaims(world.tenant, 0, 10)).toEqual([]);
    await replica.close();
  });

  test('is started by whoever asks the same', async () => {
    const bearer = await world.pair('joined');
    const id = await acceptOnly('joined');
    const task = await world.client(bearer).sendVerify(ask('joined'), { wait: true });
    expect(task).toMatchObject({ id, state: 'completed' });
  });

  test('can be cancelled', async () => {
    const bearer = await world.pair('cancelled-early');
    const id = await acceptOnly('cancelled-early');
    const client = world.client(bearer);
    await client.cancelTask(id).catch(() => {});
    const ended = await pollUntil(
      async () => {
        const task = await client.getTask(id);
        return task.metadata.phase === 'ended' && task;
      },
      { what: 'the end' },
    );
    expect(['canceled', 'completed']).toContain(ended.state);
  });

  /** Admits as the gateway would, and stops there: as a gateway that was killed before the start. */
  async function acceptOnly(pair: string): Promise<string> {
    const overrides = { tenant: world.tenant, pair, executor: 'verifier', subject: HEAD } as const;
    return (await admitted(world.store, overrides)).accepted.taskId;
  }
});

describe('with the store away', () => {
  test('[inv-18] a send is refused by name, a watch goes on where it was', async () => {
    const held = gate();
    const bearer = await world.pair('store-away', async () => {
      await held.pass();
      return executorReport();
    });
    const client = world.client(bearer);
    const { id } = await client.sendVerify(ask('store-away'));
    await pollUntil(async () => (await client.getTask(id)).metadata.phase === 'running', { what: 'the run' });
    const seen: number[] = [];
    const watching = (async () => {
      for await (const item of client.watch(id, { afterSeq: 0 }))
        if (item.kind === 'event') seen.push(item.numbered.seq);
    })();
    await pollUntil(() => seen.length > 0, { what: 'the first event' });
    world.server.stop();
    const sent = await exchange(world.url, 'HTTP+JSON', sendOf('store-away', 'm', 2), headersOf(bearer));
    expect(sent).toMatchObject({ status: 503, code: 'store_unavailable' });
    world.server.cont();
    held.open();
    await watching;
    const log = await client.getTask(id, 0);
    expect(seen).toEqual(log.metadata.events?.map(({ seq }) => seq));
    expect(log.state).toBe('completed');
  });
});

test('a store that is nearly full admits nothing, by name', async () => {
  const bearer = await world.pair('full');
  const replica = await world.replica({ sweeps: false });
  const full: Pick<GatewayStore, 'memoryUse'> = { memoryUse: () => Promise.resolve(0.8) };
  const store = Object.assign(Object.create(replica.ctx.store) as GatewayStore, full);
  const [, , id = ''] = bearer.split('.');
  const principal = await replica.ctx.store.readCredential(world.tenant, id);
  if (principal === null) throw new Error('no credential');
  await expect(
    admit({ ...replica.ctx, store }, principal, { wire: parseWireRequest(ask('full')), messageId: 'm' }),
  ).rejects.toMatchObject({ code: 'store_full' });
  expect(await claimed('full')).toBe(0);
  await replica.close();
});
