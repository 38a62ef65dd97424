/** Who may connect while somebody else holds all the connections they can: real sockets, to lowered limits. */
import { once } from 'node:events';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { DEFAULT_LIMITS, type GatewayLimits } from '../../gateway/limits.ts';
import { makeBearer } from '../../gateway/authority/bearer.ts';
import type { RunningGateway } from '../../gateway/gateway.ts';
import { ownSeat } from './own-seat.ts';
import { callSocket } from './socket-call.ts';
import { openStage, type DoorStage } from './stage.ts';
import { poll } from './task-token.ts';

const UNPROVEN = 100;
const PROVEN = 8;
const OWN = 4;

let stage: DoorStage;

beforeAll(async () => {
  stage = await openStage(inject('temporalAddress'));
});
afterAll(() => stage.close());

async function crowded(
  change: Partial<GatewayLimits> = {},
): Promise<{ gateway: RunningGateway; tcp: NetConnectOpts; unix: NetConnectOpts }> {
  const bounds = { unprovenConnections: UNPROVEN, provenConnections: PROVEN, credentialConnections: OWN };
  const gateway = await stage.gateway({ limits: { ...bounds, ...change } });
  return { gateway, tcp: { host: '127.0.0.1', port: gateway.port }, unix: { path: gateway.socketPath } };
}

/** A keep-alive connection that has been answered once, and is then only held. */
async function held(target: NetConnectOpts, bearer: string | null = null): Promise<Socket> {
  const socket = connect(target);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return await answered(socket, bearer);
}

/** Asks once more over a connection. Closed instead of answered: it comes back destroyed. */
async function answered(socket: Socket, bearer: string | null = null): Promise<Socket> {
  const authorization = bearer === null ? '' : `Authorization: Bearer ${bearer}\r\n`;
  socket.write(`GET /healthz HTTP/1.1\r\nHost: gateway\r\n${authorization}\r\n`);
  await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  return socket;
}

/** So many held one after the other, so that the oldest is known. */
async function flood(target: NetConnectOpts, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) sockets.push(await held(target));
  return sockets;
}

async function closed(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close');
}

describe('[inv-19] whoever holds idle connections without a bearer', () => {
  test('keeps nobody out: not a new request, not the door', async () => {
    const { gateway, tcp } = await crowded();
    const sockets = await flood(tcp, 3 * UNPROVEN);
    expect((await held(tcp)).destroyed).toBe(false);
    const { door } = await ownSeat(stage, `127.0.0.1:${gateway.port}`, 'crowded');
    expect((await door.call('GetSystemInfo', Buffer.alloc(0))).code).toBe(0);
    expect((await callSocket(gateway.socketPath, '/healthz', { method: 'GET' })).status).toBe(200);
    expect(sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(UNPROVEN);
  });

  test('loses the oldest of them, and only as many as are too many', async () => {
    const { tcp } = await crowded();
    const sockets = await flood(tcp, UNPROVEN);
    expect(sockets.some(({ destroyed }) => destroyed)).toBe(false);
    await held(tcp);
    const [oldest, ...others] = sockets;
    if (oldest !== undefined) await closed(oldest);
    for (const other of others) expect((await answered(other)).destroyed).toBe(false);
  });

  test('ends no connection over which a genuine bearer came, of either protocol', async () => {
    const { gateway, tcp } = await crowded();
    const { bearer, door, queue } = await ownSeat(stage, `127.0.0.1:${gateway.port}`, 'proven');
    const proven = await held(tcp, bearer);
    expect((await door.call('GetSystemInfo', Buffer.alloc(0))).code).toBe(0);
    // A client connects again unnoticed; a call that is under way ends with its connection.
    let cut = false;
    const parked = door.start('PollActivityTaskQueue', poll(queue));
    const ended = parked.answer.then(({ code }) => (cut = code === status.UNAVAILABLE));
    await flood(tcp, 2 * UNPROVEN);
    expect((await answered(proven)).destroyed).toBe(false);
    parked.cancel();
    await ended;
    expect(cut).toBe(false);
  });

  test('is not helped by a forged bearer', async () => {
    const { tcp } = await crowded();
    const forged = await held(tcp, makeBearer(Buffer.alloc(32, 1), 'local', 'c1'));
    await flood(tcp, UNPROVEN);
    await closed(forged);
  });

  test('takes nothing from the other listener', async () => {
    const { tcp, unix } = await crowded();
    const [workspace, operator] = [await held(unix), await held(tcp)];
    await flood(tcp, 2 * UNPROVEN);
    expect((await answered(workspace)).destroyed).toBe(false);
    await closed(operator);
  });
});

describe('[inv-19] whoever holds connections with a bearer of its own', () => {
  test('ends its own oldest with each one too many, and takes nothing from another', async () => {
    const { gateway, tcp, unix } = await crowded();
    const { door } = await ownSeat(stage, `127.0.0.1:${gateway.port}`, 'few');
    expect((await door.call('GetSystemInfo', Buffer.alloc(0))).code).toBe(0);
    const other = await held(tcp, (await stage.credential({ pair: 'few' })).bearer);
    const { bearer } = await stage.credential({ pair: 'many' });
    const sockets: Socket[] = [];
    while (sockets.length < 2 * PROVEN) sockets.push(await held(tcp, bearer));
    for (const socket of sockets.slice(0, -OWN)) await closed(socket);
    for (const socket of [...sockets.slice(-OWN), other]) expect((await answered(socket)).destroyed).toBe(false);
    expect((await held(unix, bearer)).destroyed).toBe(false);
    expect((await door.call('GetSystemInfo', Buffer.alloc(0))).code).toBe(0);
  });

  test('cannot fill a listener: another that comes then ends one of its connections', async () => {
    const { gateway, tcp } = await crowded({ credentialConnections: PROVEN });
    const { bearer } = await stage.credential({ pair: 'all' });
    const sockets: Socket[] = [];
    while (sockets.length < PROVEN) sockets.push(await held(tcp, bearer));
    const { door } = await ownSeat(stage, `127.0.0.1:${gateway.port}`, 'late');
    expect((await door.call('GetSystemInfo', Buffer.alloc(0))).code).toBe(0);
    const [oldest, ...others] = sockets;
    if (oldest !== undefined) await closed(oldest);
    for (const socket of others) expect((await answered(socket)).destroyed).toBe(false);
  });

  test('holds them as anybody else does, once its credential is revoked', async () => {
    const { tcp } = await crowded();
    const { record, bearer } = await stage.credential({ pair: 'ended' });
    const proven = await held(tcp, bearer);
    await stage.control.revokeCredential('local', record.id);
    // What it may do is read again within a second, and the same call says what is known of it then.
    await expect
      .poll(
        async () => {
          await answered(proven, bearer);
          await flood(tcp, UNPROVEN);
          return proven.destroyed;
        },
        { timeout: 15_000, interval: 300 },
      )
      .toBe(true);
  });
});

test('a thousand subscribers that come at once fit, before any of them could show its bearer', () => {
  // Sockets are accepted in one batch before the first byte of any is read: a smaller budget cut subscribers off.
  expect(DEFAULT_LIMITS.unprovenConnections).toBeGreaterThanOrEqual(2_000);
  expect(DEFAULT_LIMITS.provenConnections).toBeGreaterThanOrEqual(2_000);
  expect(DEFAULT_LIMITS.credentialConnections).toBeGreaterThanOrEqual(1_000);
});
