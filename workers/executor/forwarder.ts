/**
 * A TCP port on the workspace's own loopback that leads to the gateway's unix socket: gRPC and git dial hosts, not sockets.
 * It adds no right: whoever can dial it could dial the socket, and the gateway asks for a bearer.
 */
import { connect, createServer, type Socket } from 'node:net';
import { portcullisError } from '../../schemas/errors.ts';

export interface Forwarder {
  /** `127.0.0.1:port`. */
  readonly address: string;
  close(): Promise<void>;
}

export async function startForwarder(socketPath: string): Promise<Forwarder> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (inner) => {
    const outer = connect({ path: socketPath, allowHalfOpen: true });
    open.add(inner).add(outer);
    join(inner, outer, open);
    join(outer, inner, open);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw portcullisError('internal');
  return {
    address: `127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

/** One direction. When one side breaks, the other is cut too: a half that hangs would look like a slow gateway. */
function join(from: Socket, to: Socket, open: Set<Socket>): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => {
    open.delete(from);
    if (!from.readableEnded) to.destroy();
  });
}
