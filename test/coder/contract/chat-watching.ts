/** What the streams of chats told: every status, however short, and the kinds of events. */
import { at } from './observe.ts';

interface Told {
  readonly statuses: string[];
  readonly types: string[];
  readonly socket: WebSocket;
}

export class ChatWatching {
  readonly #told = new Map<string, Told>();

  /** Follows a chat, which was `status` when it was made, until `close`; its first frame says where it is. Resolves when that has come. */
  async follow(url: string, chatId: string, token: string, status: string): Promise<void> {
    const known = this.#told.get(chatId);
    if (known !== undefined && known.socket.readyState <= WebSocket.OPEN) return;
    // Browsers send no headers of theirs; the cookie is what they have.
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/experimental/chats/${chatId}/stream`, {
      headers: { 'Coder-Session-Token': token },
    });
    const told = { statuses: known?.statuses ?? [status], types: known?.types ?? [], socket };
    this.#told.set(chatId, told);
    await new Promise<void>((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        const events: unknown = JSON.parse(String(data));
        for (const event of Array.isArray(events) ? events : []) {
          told.types.push(String(at(event, 'type')));
          if (at(event, 'type') === 'status') told.statuses.push(String(at(event, 'status.status')));
        }
        resolve();
      });
      socket.addEventListener('error', () => resolve());
    });
  }

  statuses(chatId: string): readonly string[] {
    return this.#told.get(chatId)?.statuses ?? [];
  }

  types(chatId: string): readonly string[] {
    return this.#told.get(chatId)?.types ?? [];
  }

  close(): void {
    for (const { socket } of this.#told.values()) socket.close();
  }
}
