/** Snapshots of workspaces from their watch streams: every state they went through, however short. */
import { at, stateOf } from './observe.ts';

interface Snapshot {
  readonly body: unknown;
  readonly buildId: string;
  readonly state: Readonly<Record<string, unknown>>;
  readonly reason: unknown;
}

export class Watching {
  readonly #seen = new Map<string, Snapshot[]>();
  readonly #end = new AbortController();

  /** Follows a workspace until `close`. Resolves when its stream is open. */
  async follow(url: string, workspaceId: string, token: string): Promise<void> {
    if (this.#seen.has(workspaceId)) return;
    this.#seen.set(workspaceId, []);
    await this.#open(url, workspaceId, token);
  }

  /** Streams end with their server. */
  async reconnect(url: string, token: string): Promise<void> {
    for (const workspaceId of this.#seen.keys()) await this.#open(url, workspaceId, token);
  }

  of(workspaceId: string): readonly Snapshot[] {
    return this.#seen.get(workspaceId) ?? [];
  }

  bodies(): readonly unknown[] {
    return [...this.#seen.values()].flat().map(({ body }) => body);
  }

  close(): void {
    this.#end.abort();
  }

  async #open(url: string, workspaceId: string, token: string): Promise<void> {
    const response = await fetch(`${url}/api/v2/workspaces/${workspaceId}/watch`, {
      headers: { 'Coder-Session-Token': token },
      signal: this.#end.signal,
    });
    void this.#read(workspaceId, response.body).catch(() => {});
  }

  async #read(workspaceId: string, body: AsyncIterable<Uint8Array> | null): Promise<void> {
    if (body === null) return;
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of body) {
      text += decoder.decode(bytes, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const json = /^event: data\ndata: (.*)$/s.exec(event)?.[1];
        if (json !== undefined) this.#keep(workspaceId, JSON.parse(json));
      }
    }
  }

  #keep(workspaceId: string, body: unknown): void {
    const state = stateOf(body) ?? {};
    const snapshot = {
      body,
      buildId: String(at(body, 'latest_build.id')),
      state,
      reason: at(body, 'latest_build.reason'),
    };
    this.#seen.get(workspaceId)?.push(snapshot);
  }
}
