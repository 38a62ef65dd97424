/** An address that stays while what answers behind it changes: as a balancer in front of gateways does. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface MoveableProxy {
  readonly url: string;
  /** Connections that were ever made through it. */
  connections(): number;
  /** Breaks the connections that stand, as a gateway that dies would; new ones go there. */
  moveTo(url: string): void;
  close(): Promise<void>;
}

export async function moveableProxy(to: string): Promise<MoveableProxy> {
  let target = new URL(to);
  let count = 0;
  const standing = new Set<Socket>();
  const server = createServer((socket) => {
    count += 1;
    const behind = connect(Number(target.port), target.hostname);
    socket.pipe(behind).pipe(socket);
    standing.add(socket);
    socket.on('close', () => standing.delete(socket));
    socket.on('error', () => behind.destroy()).on('close', () => behind.destroy());
    behind.on('error', () => socket.destroy()).on('close', () => socket.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    connections: () => count,
    moveTo(url) {
      target = new URL(url);
      for (const socket of standing) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of standing) socket.destroy();
      }),
  };
}
