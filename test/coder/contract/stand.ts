/** Where a replay stands: the last workspace, build and chat, what the last race was answered, and what is watched. */
import type { LocalCoderOptions } from '../../../local/coder/settings.ts';
import type { Exchange } from './fixture.ts';
import { at } from './observe.ts';
import { ChatWatching } from './chat-watching.ts';
import { Watching } from './watching.ts';
import { type Answer, World } from './world.ts';

export class Stand {
  readonly world = new World();
  readonly watching = new Watching();
  readonly chats = new ChatWatching();
  /** How many statuses of the last chat were told before the last request to it. */
  chatMark = 0;
  /** Live ids. */
  workspaceId = '';
  buildId = '';
  chatId = '';
  /** Statuses of the exchanges of the last race, and the queue positions of the last reads. */
  race: number[] = [];
  readonly queue: string[] = [];
  lastLogIds: readonly number[] = [];
  readonly created: string[] = [];

  async close(): Promise<void> {
    this.watching.close();
    this.chats.close();
    await this.world.close();
  }

  /** The server ends and another serves the same state. */
  async restart(options: Partial<LocalCoderOptions> = {}): Promise<void> {
    await this.world.start(options);
    await this.watching.reconnect(this.world.url, this.token);
  }

  get token(): string {
    return this.world.live('<API_TOKEN>');
  }

  /** `place` in its group, for races. */
  async remember(exchange: Exchange, answer: Answer, place: number): Promise<void> {
    const { body, status } = answer;
    for (const [path, recorded] of Object.entries(exchange.ids ?? {})) {
      const live = at(body, path);
      if (typeof live === 'string') this.world.learn(recorded, live);
    }
    if (place === 0) this.race = [];
    this.race.push(status);
    if (status >= 300) return;
    const workspaceId = at(body, 'latest_build.workspace_id') ?? at(body, 'workspace_id');
    const buildId =
      at(body, 'latest_build.id') ?? (at(body, 'build_number') === undefined ? undefined : at(body, 'id'));
    if (typeof workspaceId === 'string' && typeof buildId === 'string') {
      this.workspaceId = workspaceId;
      this.buildId = buildId;
      if (exchange.method === 'POST' && exchange.path.endsWith('/workspaces')) this.created.push(workspaceId);
      await this.watching.follow(this.world.url, workspaceId, this.token);
      if (exchange.label === 'queued build') {
        this.queue.push([at(body, 'job.status'), at(body, 'job.queue_position'), at(body, 'job.queue_size')].join());
      }
    }
    if (at(body, 'root_chat_id') !== undefined) {
      const chatId = String(at(body, 'id'));
      if (chatId !== this.chatId) this.chatMark = 0;
      this.chatId = chatId;
      await this.chats.follow(this.world.url, chatId, this.token, String(at(body, 'status')));
    }
    if (exchange.path.endsWith('/logs') && Array.isArray(body))
      this.lastLogIds = body.map((line) => Number(at(line, 'id')));
  }

  async read(path: string): Promise<unknown> {
    return (await this.world.ask({ method: 'GET', path, auth: 'default' })).body;
  }
}
