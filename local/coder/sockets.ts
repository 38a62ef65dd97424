/** The two streams that are web sockets: of a chat, and of a workspace. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { LocalCoderContext } from './context.ts';
import { type ChatEvent, messageEvent, statusEvent } from './chats/frames.ts';
import { type Asker, identify } from './http/asker.ts';
import { Refusal } from './http/refusal.ts';
import { acceptWebSocket, type Telling } from './http/web-socket.ts';
import { sees } from './workspaces/visible.ts';
import { workspaceView } from './workspaces/view.ts';

const CHAT = /^\/api\/experimental\/chats\/([0-9a-f-]{36})\/stream$/;
const WATCH = /^\/api\/v2\/workspaces\/([0-9a-f-]{36})\/watch-ws$/;

export function serveSockets(coder: LocalCoderContext, server: Server): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    void open(coder, request, socket).catch(() => socket.destroy());
  });
}

async function open(coder: LocalCoderContext, request: IncomingMessage, socket: Duplex): Promise<void> {
  const url = new URL(request.url ?? '', 'http://local');
  const asker = identify(coder.state, coder.clock, (name) => headerOf(request, name));
  if (asker instanceof Refusal) {
    refuseUpgrade(socket, 401);
    return;
  }
  const chat = coder.state.chats.get(CHAT.exec(url.pathname)?.[1] ?? '');
  const workspace = coder.state.workspaces.get(WATCH.exec(url.pathname)?.[1] ?? '');
  if (chat?.ownerId === asker.user.id) {
    tellChat(coder, chat.id, Number(url.searchParams.get('after_id') ?? '0'), await accept(coder, request, socket));
  } else if (workspace !== undefined && sees(asker, workspace)) {
    tellWorkspace(coder, asker, workspace.id, await accept(coder, request, socket));
  } else {
    refuseUpgrade(socket, 404);
  }
}

async function accept(coder: LocalCoderContext, request: IncomingMessage, socket: Duplex): Promise<Telling> {
  const telling = await acceptWebSocket(request, socket);
  coder.ending.addEventListener('abort', () => telling.end(), { once: true });
  return telling;
}

/** The messages so far in one frame, then what happens. */
function tellChat(coder: LocalCoderContext, chatId: string, after: number, telling: Telling): void {
  const before: ChatEvent[] = coder.state.messages
    .of(chatId)
    .filter(({ number }) => number > after)
    .map(messageEvent);
  const status = coder.state.chats.get(chatId)?.status ?? 'waiting';
  telling.send([...before, statusEvent(chatId, status)]);
  const deaf = coder.frames.hear(chatId, (events) => telling.send(events));
  void telling.ended.then(deaf);
}

function tellWorkspace(coder: LocalCoderContext, asker: Asker, id: string, telling: Telling): void {
  const tell = () => {
    const workspace = coder.state.workspaces.get(id);
    if (workspace !== undefined && sees(asker, workspace)) {
      telling.send({ type: 'data', data: workspaceView(coder, workspace) });
    }
  };
  tell();
  const deaf = coder.changes.hear(id, tell);
  void telling.ended.then(deaf);
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
}

function refuseUpgrade(socket: Duplex, status: 401 | 404): void {
  socket.end(`HTTP/1.1 ${status} ${status === 401 ? 'Unauthorized' : 'Not Found'}\r\nConnection: close\r\n\r\n`);
}
