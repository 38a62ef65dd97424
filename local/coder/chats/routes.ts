/** Chats (experimental there): created, listed, talked to, interrupted, put away. There is no way to close or delete one. */
import { z } from 'zod';
import type { LocalCoderContext } from '../context.ts';
import type { Asker } from '../http/asker.ts';
import { notFound, refuse } from '../http/refusal.ts';
import { bodyId, page, pathId, queryNumber, queryText, readBody } from '../http/request.ts';
import { created, done, ok, type Route } from '../http/route.ts';
import type { Chat } from '../state/records.ts';
import { bind } from './bind.ts';
import { chatRequest, checkLabels, checkWorkspace, content, contentText, createChat } from './create.ts';
import { addMessage, messageView, textPart } from './messages.ts';
import { chatView, diffStatus, hasContext } from './view.ts';

const sendRequest = z.object({ content: content.nullish(), busy_behavior: z.string().nullish() });
const patchRequest = z.object({
  archived: z.boolean().nullish(),
  workspace_id: bodyId.nullish(),
  labels: z.record(z.string(), z.string()).nullish(),
  title: z.string().nullish(),
});
const MESSAGES_PAGE = 50;

export function chatRoutes(coder: LocalCoderContext): readonly Route[] {
  const { state } = coder;
  const root = '/api/experimental/chats';
  const chatOf = (asker: Asker, id: string): Chat => {
    const chat = state.chats.get(id);
    if (chat === undefined || chat.ownerId !== asker.user.id || !asker.covers('chat:read')) throw notFound();
    return chat;
  };
  const mine = (asker: Asker) =>
    state.chats
      .all()
      .filter((chat) => chat.ownerId === asker.user.id && asker.covers('chat:read'))
      .sort((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1));
  return [
    {
      method: 'POST',
      path: root,
      work: (request, asker) => created(chatView(coder, createChat(coder, asker, readBody(request, chatRequest)))),
    },
    {
      method: 'GET',
      path: root,
      work: (request, asker) => {
        const [key, value] = queryText(request, 'label').split(/:(.*)/s);
        const labelled = (chat: Chat) => key === undefined || key === '' || chat.labels[key] === (value ?? '');
        const chats = mine(asker).filter((chat) => !chat.archived && labelled(chat));
        return ok(page(request, chats).map((chat) => ({ ...chatView(coder, bind(coder, chat)), ...diffStatus(chat) })));
      },
    },
    {
      method: 'GET',
      path: `${root}/by-workspace`,
      work: (request, asker) => {
        const ids = queryText(request, 'workspace_ids').split(',');
        const found = mine(asker).filter(({ workspaceId }) => workspaceId !== null && ids.includes(workspaceId));
        return ok(Object.fromEntries(found.toReversed().map(({ id, workspaceId }) => [workspaceId, id])));
      },
    },
    {
      method: 'GET',
      path: `${root}/:chat`,
      work: (request, asker) => ok(chatView(coder, bind(coder, chatOf(asker, pathId(request, 'chat'))))),
    },
    {
      method: 'PATCH',
      path: `${root}/:chat`,
      work: (request, asker) => {
        const chat = chatOf(asker, pathId(request, 'chat'));
        patchChat(coder, asker, chat, readBody(request, patchRequest));
        return done;
      },
    },
    {
      method: 'GET',
      path: `${root}/:chat/messages`,
      work: (request, asker) => {
        const chat = chatOf(asker, pathId(request, 'chat'));
        const before = queryNumber(request, 'before_id') || Infinity;
        const after = queryNumber(request, 'after_id');
        const limit = queryNumber(request, 'limit') || MESSAGES_PAGE;
        const found = state.messages.of(chat.id).filter(({ number }) => number < before && number > after);
        return ok({
          messages: found.toReversed().slice(0, limit).map(messageView),
          queued_messages: chat.queue.map((queued) => queuedView(chat, queued)),
          has_more: found.length > limit,
        });
      },
    },
    {
      method: 'POST',
      path: `${root}/:chat/messages`,
      work: (request, asker) => {
        const chat = chatOf(asker, pathId(request, 'chat'));
        return ok(sendMessage(coder, chat, readBody(request, sendRequest)));
      },
    },
    {
      method: 'GET',
      path: `${root}/:chat/stream`,
      work: () => {
        throw refuse(426, 'WebSocket protocol violation: expected to be upgraded.');
      },
    },
    {
      method: 'POST',
      path: `${root}/:chat/interrupt`,
      work: (request, asker) => {
        const chat = chatOf(asker, pathId(request, 'chat'));
        if (chat.status === 'waiting' || chat.status === 'error') {
          const detail = `execute transaction: chat state transition Interrupt not allowed from state ${letterOf(chat)}`;
          throw refuse(409, 'Chat is not in an interruptible state.', detail);
        }
        coder.turns.interrupt(chat.id);
        return ok(chatView(coder, state.chats.get(chat.id) ?? chat));
      },
    },
  ];
}

function patchChat(coder: LocalCoderContext, asker: Asker, chat: Chat, patch: z.infer<typeof patchRequest>): void {
  const { state, clock } = coder;
  const archived = patch.archived ?? null;
  if (archived !== null && archived !== chat.archived && archived && isBusy(chat)) {
    const transition = `chat state transition SetArchived not allowed from state ${letterOf(chat)}`;
    const detail = `execute transaction: execute transaction: ${transition}`;
    throw refuse(409, 'Cannot archive an active chat. Interrupt or wait for the chat to finish first.', detail);
  }
  if (archived !== null && archived === chat.archived) {
    throw refuse(400, archived ? 'Chat is already archived.' : 'Chat is already not archived.');
  }
  const workspaceId = patch.workspace_id ?? null;
  checkWorkspace(coder, asker, workspaceId);
  state.chats.put({
    ...chat,
    ...(archived === null ? {} : { archived }),
    ...(workspaceId === null ? {} : { workspaceId, bound: null, hadContext: hasContext(coder, chat) }),
    ...((patch.labels ?? null) === null ? {} : { labels: checkLabels(patch.labels ?? {}) }),
    ...((patch.title ?? null) === null ? {} : { title: patch.title ?? '' }),
    updatedAt: clock.iso(),
  });
}

/** A message to a chat that runs waits; `interrupt` ends what runs first, and is then the next. */
function sendMessage(coder: LocalCoderContext, chat: Chat, request: z.infer<typeof sendRequest>) {
  const { state, clock, turns } = coder;
  const behavior = request.busy_behavior ?? 'queue';
  if (behavior !== 'queue' && behavior !== 'interrupt') {
    throw refuse(400, 'Invalid busy_behavior value.', 'Must be "queue" or "interrupt".');
  }
  const text = contentText(request.content ?? []);
  if (chat.archived) throw refuse(400, 'Cannot send messages to an archived chat.');
  if (!isBusy(chat)) {
    const message = addMessage(coder, chat, { role: 'user', part: { type: 'text', text } });
    turns.start(chat.id);
    return { message: messageView(message), queued: false };
  }
  const queued = { id: chat.queue.reduce((most, { id }) => Math.max(most, id), 0) + 1, text, createdAt: clock.iso() };
  state.chats.put({ ...chat, queue: behavior === 'queue' ? [...chat.queue, queued] : [queued, ...chat.queue] });
  if (behavior === 'interrupt' && chat.status === 'running') turns.interrupt(chat.id);
  return { queued_message: queuedView(chat, queued), queued: true };
}

function queuedView(chat: Chat, queued: Chat['queue'][number]) {
  return {
    id: queued.id,
    chat_id: chat.id,
    model_config_id: chat.modelConfigId,
    content: [textPart(queued.text)],
    created_at: queued.createdAt,
  };
}

function isBusy({ status }: Chat): boolean {
  return status === 'running' || status === 'interrupting';
}

/** The letter of the state machine in refusals, and whether something waits. */
function letterOf({ status, queue }: Chat): string {
  switch (status) {
    case 'running':
    case 'interrupting':
      return `R${Math.min(1, queue.length)}`;
    case 'error':
      return 'E0';
    case 'waiting':
      return 'W';
  }
}
