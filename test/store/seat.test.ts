import { beforeAll, expect, test } from 'vitest';
import type { ControlStore, GatewayStore, Presence } from '../../activities/store/port.ts';
import type { Seat } from '../../schemas/queues.ts';
import { pollUntil } from '../support/poll.ts';
import { describeStores } from '../support/store-kinds.ts';
import { useStoreStage } from '../support/store-stage.ts';

describeStores('a seat', ({ program }) => {
  const stage = useStoreStage(program);
  let gateway: GatewayStore;
  let control: ControlStore;
  let seats = 0;
  const newSeat = (tenant = 'local'): Seat => ({
    tenant,
    pair: `T-${(seats += 1)}`,
    role: 'forge',
    workspaceGeneration: 1,
  });

  beforeAll(() => {
    ({ gateway, control } = stage());
  });

  /** What a seat reads as, each change with its time, until it reads `last`. */
  async function watch(seat: Seat, last: Presence): Promise<readonly { presence: Presence; atMs: number }[]> {
    const start = performance.now();
    const seen: { presence: Presence; atMs: number }[] = [];
    await pollUntil(
      async () => {
        const presence = await gateway.readPresence(seat);
        if (presence !== seen.at(-1)?.presence) seen.push({ presence, atMs: performance.now() - start });
        return presence === last;
      },
      { what: `the seat to be ${last}`, deadlineMs: 15_000, everyMs: 20 },
    );
    return seen;
  }

  test('nobody was ever at is absent at once', async () => {
    expect(await gateway.readPresence(newSeat())).toBe('absent');
  });

  test('that is held reads idle or busy, for the gateway and in line', async () => {
    const seat = newSeat();
    await gateway.holdPresence(seat, 'idle', 'a:1');
    expect(await gateway.readPresence(seat)).toBe('idle');
    await gateway.holdPresence(seat, 'busy', 'a:1');
    expect(await control.takePlace(seat, 'w-1')).toEqual({ rank: 0, presence: 'busy' });
  });

  test('whose connection was seen to drop is unknown for 1.5 s and absent within 2 s', async () => {
    const seat = newSeat();
    await gateway.holdPresence(seat, 'idle', 'a:1');
    await gateway.dropPresence(seat, 'a:1');
    const [first, second] = await watch(seat, 'absent');
    expect(first?.presence).toBe('unknown');
    expect(second?.atMs).toBeGreaterThan(1_300);
    expect(second?.atMs).toBeLessThan(2_000);
  });

  test('that reconnects within that time is there, and the old connection cannot drop it', async () => {
    const seat = newSeat();
    await gateway.holdPresence(seat, 'idle', 'a:1');
    await gateway.dropPresence(seat, 'a:1');
    await gateway.holdPresence(seat, 'idle', 'b:7');
    await gateway.dropPresence(seat, 'a:1');
    expect(await gateway.readPresence(seat)).toBe('idle');
  });

  test('whose lease runs out is unknown until 8 s after the last sight, and settling makes absence unknown', async () => {
    const silent = newSeat();
    const never = newSeat('acme');
    await gateway.beginSettling('acme');
    await gateway.holdPresence(silent, 'idle', 'a:1');
    const [expiry, settling] = await Promise.all([watch(silent, 'absent'), watch(never, 'absent')]);
    expect(expiry.map(({ presence }) => presence)).toEqual(['idle', 'unknown', 'absent']);
    expect(expiry[1]?.atMs).toBeGreaterThan(4_500);
    expect(expiry[2]?.atMs).toBeGreaterThan(7_500);
    expect(settling.map(({ presence }) => presence)).toEqual(['unknown', 'absent']);
    expect(settling[1]?.atMs).toBeGreaterThan(7_500);
  });

  test('has one line: places in order, kept when asked again, moved up when one leaves', async () => {
    const seat = newSeat();
    const rank = async (workflowId: string) => (await control.takePlace(seat, workflowId)).rank;
    expect([await rank('w-1'), await rank('w-2'), await rank('w-3'), await rank('w-2')]).toEqual([0, 1, 2, 1]);
    expect(await control.leavePlace(seat, 'w-1')).toBe('w-2');
    expect(await control.leavePlace(seat, 'w-1')).toBe('w-2');
    expect(await rank('w-3')).toBe(1);
    await control.leavePlace(seat, 'w-3');
    expect(await control.leavePlace(seat, 'w-2')).toBeNull();
  });

  test('knows which runs another boot of the executor started', async () => {
    const seat = newSeat();
    await control.takePlace(seat, 'w-1');
    await gateway.recordStarted(seat, 'w-1', 'boot-a');
    await gateway.recordStarted(seat, 'w-1', 'boot-b');
    await gateway.recordStarted(seat, 'not-in-line', 'boot-a');
    expect(await gateway.startedByOthers(seat, 'boot-a')).toEqual([]);
    expect(await gateway.startedByOthers(seat, 'boot-b')).toEqual(['w-1']);
    await control.leavePlace(seat, 'w-1');
    expect(await gateway.startedByOthers(seat, 'boot-b')).toEqual([]);
  });
});
