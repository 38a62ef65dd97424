/**
 * The connections a gateway holds, each under a name of its own, so that what came over one can be told apart; bounded, and
 * those that proved nothing apart from those that did.
 */
import type { Socket } from 'node:net';
import type { GatewayLimits } from './limits.ts';

/** TCP is the operator's and the agents' way in, the unix socket a workspace's: neither can fill up the other's. */
export type Transport = 'tcp' | 'unix';

interface Connection {
  readonly socket: Socket;
  readonly transport: Transport;
}

/** Names, oldest first. */
interface Held {
  readonly unproven: Set<string>;
  readonly proven: Set<string>;
}

export class Connections {
  readonly #limits: Pick<GatewayLimits, 'unprovenConnections' | 'provenConnections'>;
  readonly #open = new Map<string, Connection>();
  readonly #held: Readonly<Record<Transport, Held>> = {
    tcp: { unproven: new Set(), proven: new Set() },
    unix: { unproven: new Set(), proven: new Set() },
  };
  readonly #names = new WeakMap<Socket, string>();
  readonly #dropListeners = new Set<(connection: string) => void>();
  #count = 0;

  constructor(limits: Pick<GatewayLimits, 'unprovenConnections' | 'provenConnections'>) {
    this.#limits = limits;
  }

  /** Names a connection; its name is forgotten when it closes. Ends the oldest unproven one when there are too many. */
  add(socket: Socket, transport: Transport): string {
    const { unproven } = this.#held[transport];
    for (const oldest of unproven) {
      if (unproven.size < this.#limits.unprovenConnections) break;
      this.#end(oldest);
    }
    this.#count += 1;
    const connection = `connection-${this.#count}`;
    this.#open.set(connection, { socket, transport });
    unproven.add(connection);
    this.#names.set(socket, connection);
    socket.once('close', () => {
      this.#forget(connection);
      for (const listener of this.#dropListeners) listener(connection);
    });
    return connection;
  }

  /** The name of a connection that was added; empty for any other. */
  nameOf(socket: Socket): string {
    return this.#names.get(socket) ?? '';
  }

  /** A call with a genuine bearer came over it. Ends it when there are too many of those. */
  prove(connection: string): void {
    const known = this.#open.get(connection);
    if (known === undefined || this.isProven(connection)) return;
    const { unproven, proven } = this.#held[known.transport];
    if (proven.size >= this.#limits.provenConnections) {
      this.#end(connection);
      return;
    }
    unproven.delete(connection);
    proven.add(connection);
  }

  isProven(connection: string): boolean {
    const known = this.#open.get(connection);
    return known !== undefined && this.#held[known.transport].proven.has(connection);
  }

  isOpen(connection: string): boolean {
    return this.#open.has(connection);
  }

  onDrop(listener: (connection: string) => void): void {
    this.#dropListeners.add(listener);
  }

  destroyAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  /** Counted out at once: `close` comes later, and until then the place would be taken. */
  #end(connection: string): void {
    const known = this.#open.get(connection);
    this.#forget(connection);
    known?.socket.destroy();
  }

  #forget(connection: string): void {
    const known = this.#open.get(connection);
    if (known === undefined) return;
    this.#held[known.transport].unproven.delete(connection);
    this.#held[known.transport].proven.delete(connection);
    this.#open.delete(connection);
  }
}
