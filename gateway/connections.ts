/** The connections a listener holds, each under a name of its own, so that what came over one can be told apart. */
import type { Socket } from 'node:net';

export class Connections {
  readonly #open = new Map<string, { readonly socket: Socket; proven: boolean }>();
  readonly #names = new WeakMap<Socket, string>();
  readonly #dropListeners = new Set<(connection: string) => void>();
  #count = 0;

  get size(): number {
    return this.#open.size;
  }

  /** Names a connection; its name is forgotten when it closes. */
  add(socket: Socket): string {
    this.#count += 1;
    const connection = `connection-${this.#count}`;
    this.#open.set(connection, { socket, proven: false });
    this.#names.set(socket, connection);
    socket.once('close', () => {
      this.#open.delete(connection);
      for (const listener of this.#dropListeners) listener(connection);
    });
    return connection;
  }

  /** The name of a connection that was added; empty for any other. */
  nameOf(socket: Socket): string {
    return this.#names.get(socket) ?? '';
  }

  /** A call with a genuine bearer came over it. */
  prove(connection: string): void {
    const known = this.#open.get(connection);
    if (known !== undefined) known.proven = true;
  }

  isProven(connection: string): boolean {
    return this.#open.get(connection)?.proven ?? false;
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
}
