/**
 * The connections a gateway holds, each under a name of its own, so that what came over one can be told apart; bounded: those
 * that proved nothing apart from those that did, and those of one credential apart from those of every other.
 */
import type { Socket } from 'node:net';
import type { GatewayLimits } from './limits.ts';

/** TCP is the operator's and the agents' way in, the unix socket a workspace's: neither can fill up the other's. */
export type Transport = 'tcp' | 'unix';

interface Connection {
  readonly socket: Socket;
  readonly transport: Transport;
}

/** Names, oldest first; of the proven ones by the credential that came over them first. */
interface Held {
  readonly unproven: Set<string>;
  readonly proven: Map<string, Set<string>>;
}

type ConnectionLimits = Pick<
  GatewayLimits,
  'unprovenConnections' | 'provenConnections' | 'credentialConnections' | 'workspaceConnections'
>;

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #open = new Map<string, Connection>();
  readonly #held: Readonly<Record<Transport, Held>> = {
    tcp: { unproven: new Set(), proven: new Map() },
    unix: { unproven: new Set(), proven: new Map() },
  };
  /** Which credential each proven connection is counted for. */
  readonly #credentials = new Map<string, string>();
  readonly #names = new WeakMap<Socket, string>();
  readonly #dropListeners = new Set<(connection: string) => void>();
  #count = 0;

  constructor(limits: ConnectionLimits) {
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

  /**
   * A call with the genuine bearer of a credential (`{tenant}/{id}`) came over it. Ends that credential's own oldest when it
   * has too many, and when all are too many the oldest of whoever holds most: nobody is kept out by what another holds.
   */
  prove(connection: string, credential: string): void {
    const known = this.#open.get(connection);
    if (known === undefined || this.isProven(connection)) return;
    const { unproven, proven } = this.#held[known.transport];
    if (!this.#makeRoom(known.transport, credential)) {
      this.#end(connection);
      return;
    }
    unproven.delete(connection);
    const own = proven.get(credential) ?? new Set();
    proven.set(credential, own.add(connection));
    this.#credentials.set(connection, credential);
  }

  /** The credential is revoked: what came over its connections proves nothing any more. */
  disprove(credential: string): void {
    for (const { unproven, proven } of Object.values(this.#held)) {
      for (const connection of proven.get(credential) ?? []) {
        unproven.add(connection);
        this.#credentials.delete(connection);
      }
      proven.delete(credential);
    }
  }

  isProven(connection: string): boolean {
    return this.#credentials.has(connection);
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

  /** False when there is none to be had: the others hold no more than this credential would. */
  #makeRoom(transport: Transport, credential: string): boolean {
    const { proven } = this.#held[transport];
    const own = proven.get(credential) ?? new Set<string>();
    const { provenConnections, credentialConnections, workspaceConnections } = this.#limits;
    const [oldest] = own;
    if (own.size >= (transport === 'tcp' ? credentialConnections : workspaceConnections)) {
      if (oldest !== undefined) this.#end(oldest);
      return true;
    }
    let all = 0;
    let most = own;
    for (const held of proven.values()) {
      all += held.size;
      if (held.size > most.size) most = held;
    }
    if (all < provenConnections) return true;
    // One more than its own is what the newcomer would then hold itself: it would be taken away in turn.
    const [given = oldest] = most.size > own.size + 1 ? most : own;
    if (given === undefined) return false;
    this.#end(given);
    return true;
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
    const { unproven, proven } = this.#held[known.transport];
    unproven.delete(connection);
    const credential = this.#credentials.get(connection) ?? '';
    const own = proven.get(credential);
    own?.delete(connection);
    if (own?.size === 0) proven.delete(credential);
    this.#credentials.delete(connection);
    this.#open.delete(connection);
  }
}
