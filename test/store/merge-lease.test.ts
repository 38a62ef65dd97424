import { beforeAll, expect, test } from 'vitest';
import {
  mergeLeases,
  type HeldLease,
  type LandingPlace,
  type MergeLeases,
} from '../../activities/store/merge-lease.ts';
import { MERGE_LEASE_MS } from '../../activities/store/scripts/merge-lease.ts';
import type { StoreConnection } from '../../activities/store/connect.ts';
import type { ControlStore } from '../../activities/store/port.ts';
import { keysOf } from '../../schemas/keys.ts';
import { describeStores } from '../support/store-kinds.ts';
import { useStoreStage } from '../support/store-stage.ts';

describeStores('the merge lease in the store', ({ program }) => {
  const stage = useStoreStage(program);
  let leases: MergeLeases;
  let control: ControlStore;
  let connection: StoreConnection;
  let gatewayConnection: StoreConnection;
  let count = 0;

  beforeAll(() => {
    ({ control, controlConnection: connection, gatewayConnection } = stage());
    leases = mergeLeases(connection);
  });

  const place = (): LandingPlace => {
    count += 1;
    return { tenant: 'local', repository: `remote-${count}`, branch: 'release/1.x' };
  };
  const taken = async (at: LandingPlace, holder: string): Promise<HeldLease> => {
    const lease = await leases.take(at, holder);
    if (lease.kind !== 'taken') throw new Error(`held by ${lease.holder}`);
    return lease;
  };

  test('[inv-08] has one holder, also when ten ask at once, and lives for 30 s', async () => {
    const at = place();
    const asked = await Promise.all(Array.from({ length: 10 }, (_, n) => leases.take(at, `ticket/local/T-${n}`)));
    const [winner, ...more] = asked.filter(({ kind }) => kind === 'taken');
    expect(more).toEqual([]);
    for (const lease of asked) {
      if (lease.kind === 'held') expect(lease.leftMs).toBeGreaterThan(MERGE_LEASE_MS - 5_000);
    }
    if (winner?.kind === 'taken') await leases.release(winner);
    expect(await leases.take(at, 'ticket/local/T-99')).toMatchObject({ kind: 'taken' });
  });

  test('gives each attempt a higher number, also of one holder and over the end of a lease', async () => {
    const at = place();
    const first = await taken(at, 'a');
    const second = await taken(at, 'a');
    expect(second.fencing).toBeGreaterThan(first.fencing);
    expect(await leases.check(first)).toMatchObject({ state: 'lost' });
    // Whoever lost it does not take it from the one that has it.
    await leases.release(first);
    expect(await leases.check(second)).toMatchObject({ state: 'current' });
    await connection.run((redis) => redis.del(keysOf('local').mergeLease(at.repository, at.branch)));
    expect(await leases.check(second)).toMatchObject({ state: 'lost' });
    expect((await taken(at, 'b')).fencing).toBeGreaterThan(second.fencing);
  });

  test('shows the epoch that everything which changes authority raises, and a kill switch', async () => {
    const lease = await taken(place(), 'a');
    const before = await leases.check(lease);
    const turn = (on: boolean) =>
      control.writeKillSwitch('local', { schema: 'portcullis/kill-switch/v1', on, reason: 'stop', by: 'o', at: 1 });
    await turn(true);
    const under = await leases.check(lease);
    await turn(false);
    expect(under).toEqual({ state: 'killed', epoch: before.epoch + 1, reason: 'stop' });
    expect(await leases.check(lease)).toEqual({ state: 'current', epoch: before.epoch + 2, reason: '' });
  });

  test('[inv-05] is taken by nobody but control', async () => {
    await expect(mergeLeases(gatewayConnection).take(place(), 'a')).rejects.toMatchObject({ code: 'internal' });
  });
});
