/** Ports on loopback: the ones that were used before, when they are free, otherwise what the kernel gives. */
import { connect, createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** True when nobody listens there. */
export function isFree(port: number): Promise<boolean> {
  return listenOn(port).then((found) => found !== null);
}

/**
 * One port for each preference, all different: the preferred one when it is free, otherwise one of the kernel's choice.
 * A port can still be taken before its server listens; who starts a server on it tries again with another.
 */
export async function choosePorts(preferred: readonly number[]): Promise<readonly number[]> {
  const chosen: number[] = [];
  for (const port of preferred) {
    const usable = port > 0 && !chosen.includes(port) && (await isFree(port));
    chosen.push(usable ? port : await freePort(chosen));
  }
  return chosen;
}

/** A port that was free a moment ago, none of `except`. */
export async function freePort(except: readonly number[] = []): Promise<number> {
  for (;;) {
    const port = await listenOn(0);
    if (port !== null && !except.includes(port)) return port;
  }
}

/** True when somebody accepts a connection there within `timeoutMs`. */
export function accepts(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => settle(false));
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

function listenOn(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, LOOPBACK, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : null));
    });
  });
}
