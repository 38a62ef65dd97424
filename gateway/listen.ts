/**
 * One port and one unix socket for everything: the first bytes of a connection say whether it speaks HTTP/2 (the door) or
 * HTTP/1 (all else). The socket is what a workspace is given; it is made anew at each start, in the same directory.
 */
import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import type { Server as HttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { portcullisError } from '../schemas/errors.ts';
import type { Connections, Transport } from './connections.ts';
import type { Door } from './door/door.ts';
import type { GatewayLimits } from './limits.ts';
import type { GatewayMetrics } from './metrics.ts';

/** What a client that speaks HTTP/2 from the start sends first (RFC 9113 section 3.4). */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export interface ListenSettings {
  /** A loopback address. */
  readonly host: string;
  /** 0: the kernel chooses. */
  readonly port: number;
  /** Absolute path of the unix socket; its directory is what a workspace gets mounted. */
  readonly socketPath: string;
}

export interface Listening {
  readonly port: number;
  /** Stops accepting; open connections are the caller's to end. */
  stopAccepting(): Promise<void>;
}

export interface Demultiplexed {
  readonly door: Pick<Door, 'accept'>;
  readonly http: HttpServer;
  readonly connections: Connections;
  readonly limits: GatewayLimits;
  readonly metrics: GatewayMetrics;
}

/** @throws `setting_invalid` when the address cannot be listened on. */
export async function listen(settings: ListenSettings, targets: Demultiplexed): Promise<Listening> {
  const tcp = createServer({ noDelay: true }, (socket) => demultiplex(socket, 'tcp', targets));
  const unix = createServer((socket) => demultiplex(socket, 'unix', targets));
  await clearSocket(settings.socketPath);
  await started(tcp, { host: settings.host, port: settings.port }, 'listen address');
  await started(unix, { path: settings.socketPath }, 'gateway socket');
  // A workspace runs under another uid. Who may connect is said by the directory; who may ask, by the bearer.
  await chmod(settings.socketPath, 0o666);
  const address = tcp.address();
  if (address === null || typeof address === 'string') throw portcullisError('internal');
  return {
    port: address.port,
    stopAccepting: async () => {
      await Promise.all([stopped(tcp), stopped(unix)]);
    },
  };
}

function demultiplex(
  socket: Socket,
  transport: Transport,
  { door, http, connections, limits, metrics }: Demultiplexed,
): void {
  // An error always comes with `close`, and that is what is acted on.
  socket.on('error', () => {});
  const connection = connections.add(socket, transport);
  const tooSlow = setTimeout(() => socket.destroy(), limits.firstBytesMs);
  socket.once('close', () => clearTimeout(tooSlow));
  let seen = Buffer.alloc(0);
  const onReadable = () => {
    const part: unknown = socket.read();
    if (!Buffer.isBuffer(part)) return;
    // Kept here until it is enough: what is put back at once is announced at once, for ever.
    seen = Buffer.concat([seen, part]);
    const compared = Math.min(seen.length, HTTP2_PREFACE.length);
    const isPreface = seen.subarray(0, compared).equals(HTTP2_PREFACE.subarray(0, compared));
    if (isPreface && compared < HTTP2_PREFACE.length) return;
    socket.off('readable', onReadable);
    socket.unshift(seen);
    clearTimeout(tooSlow);
    metrics.connections.inc({ protocol: isPreface ? 'grpc' : 'http' });
    socket.once('close', () => metrics.connections.dec({ protocol: isPreface ? 'grpc' : 'http' }));
    if (isPreface) acceptGrpc(socket, connection, door, connections, limits);
    else http.emit('connection', socket);
  };
  socket.on('readable', onReadable);
}

function acceptGrpc(
  socket: Socket,
  connection: string,
  door: Pick<Door, 'accept'>,
  connections: Connections,
  limits: GatewayLimits,
): void {
  // grpc-js gives a call's peer as the socket's remote address, which a unix socket has none of: ours is the connection's name.
  Object.defineProperty(socket, 'remoteAddress', { value: connection });
  Object.defineProperty(socket, 'remotePort', { value: undefined });
  const unproven = setTimeout(() => {
    if (!connections.isProven(connection)) socket.destroy();
  }, limits.firstCallMs);
  socket.once('close', () => clearTimeout(unproven));
  door.accept(socket);
}

/** Removes what an earlier start left. @throws `setting_invalid` when something else is there. */
async function clearSocket(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const there = await lstat(path).catch(() => null);
  if (there === null) return;
  if (!there.isSocket())
    throw portcullisError('setting_invalid', { name: 'gateway socket', reason: 'is not a socket' });
  await rm(path, { force: true });
}

async function started(
  server: Server,
  address: { host: string; port: number } | { path: string },
  name: string,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  server.once('error', reject);
  server.listen(address, () => resolve(undefined));
  try {
    await promise;
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : 'cannot be used';
    throw portcullisError('setting_invalid', { name, reason }, thrown);
  }
  server.off('error', reject);
}

async function stopped(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
}
