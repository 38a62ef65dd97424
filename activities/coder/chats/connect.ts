/** The chat port over a Coder server. */
import { PortcullisError } from '../../../schemas/errors.ts';
import { ask, expectAnswer } from '../answer.ts';
import { anyAnswer } from '../answers.schema.ts';
import { type ChatClient, chatClient } from '../client.ts';
import type { CallOptions } from '../port.ts';
import { signalOf } from '../reads.ts';
import { refusalError } from '../refusal.ts';
import { type CoderOptions, coderSettings } from '../settings.ts';
import { chatAnswer, chatListAnswer, messagesAnswer, sentAnswer } from './answers.schema.ts';
import type { ChatLister, ChatPort, ChatRequest, ChatState } from './port.ts';

/** `options.token` is of the chat identity: no scope that a token can be given covers chats. */
export function connectChats(options: CoderOptions): ChatPort & ChatLister {
  const client = chatClient(coderSettings(options));
  return {
    startOrAdopt: (request, call) => startOrAdopt(client, request, call),
    read: (chat, call) => readChat(client, chat, call),
    messages: (chat, limit, call = {}) =>
      expectAnswer(
        'read messages',
        messagesAnswer,
        client.GET('/api/experimental/chats/{chat}/messages', {
          params: { path: { chat }, query: { limit } },
          ...signalOf(call),
        }),
        call,
      ),
    send: (chat, text, call = {}) =>
      expectAnswer(
        'send message',
        sentAnswer,
        client.POST('/api/experimental/chats/{chat}/messages', {
          params: { path: { chat } },
          body: { content: [{ type: 'text', text }], busy_behavior: 'queue' },
          ...signalOf(call),
        }),
        call,
      ),
    interrupt: (chat, call) => interrupt(client, chat, call),
    archive: (chat, call) => archive(client, chat, call),
    list: (label, call) => list(client, label, call),
  };
}

async function startOrAdopt(client: ChatClient, request: ChatRequest, call: CallOptions = {}) {
  const before = await find(client, request, call);
  if (before !== null) return { how: 'adopted' as const, chat: before };
  const { organizationId, workspaceId, modelConfigId, label, prompt } = request;
  const sent = client.POST('/api/experimental/chats', {
    body: {
      organization_id: organizationId,
      content: [{ type: 'text', text: prompt }],
      workspace_id: workspaceId,
      ...(modelConfigId === null ? {} : { model_config_id: modelConfigId }),
      labels: { [label.key]: label.value },
      client_type: 'api',
    },
    ...signalOf(call),
  });
  try {
    return { how: 'created' as const, chat: await expectAnswer('create chat', chatAnswer, sent, call) };
  } catch (thrown) {
    if (!(thrown instanceof PortcullisError)) throw thrown;
    if (thrown.code !== 'coder_unavailable' && thrown.code !== 'coder_unreadable') throw thrown;
    // The answer was lost; the label tells whether the chat was made.
    const after = await find(client, request, call);
    if (after === null) throw thrown;
    return { how: 'adopted' as const, chat: after };
  }
}

async function find(client: ChatClient, request: ChatRequest, call: CallOptions): Promise<ChatState | null> {
  const chats = await list(client, request.label, call);
  return chats.find((chat) => chat.workspaceId === request.workspaceId) ?? null;
}

async function list(
  client: ChatClient,
  { key, value }: ChatRequest['label'],
  call: CallOptions = {},
): Promise<readonly ChatState[]> {
  const listed = client.GET('/api/experimental/chats', {
    params: { query: { label: `${key}:${value}` } },
    ...signalOf(call),
  });
  const chats = await expectAnswer('list chats', chatListAnswer, listed, call);
  return chats.filter((chat) => chat.labels[key] === value);
}

async function readChat(client: ChatClient, chat: string, call: CallOptions = {}): Promise<ChatState | null> {
  const sent = client.GET('/api/experimental/chats/{chat}', { params: { path: { chat } }, ...signalOf(call) });
  const answer = await ask('read chat', chatAnswer, sent, call);
  if (answer.ok) return answer.value;
  if (answer.refusal.status === 404) return null;
  throw refusalError('read chat', answer.refusal);
}

async function interrupt(client: ChatClient, chat: string, call: CallOptions = {}): Promise<'asked' | 'idle'> {
  const sent = client.POST('/api/experimental/chats/{chat}/interrupt', {
    params: { path: { chat } },
    ...signalOf(call),
  });
  const answer = await ask('interrupt chat', anyAnswer, sent, call);
  if (answer.ok) return 'asked';
  if (answer.refusal.status === 409) return 'idle';
  throw refusalError('interrupt chat', answer.refusal);
}

async function archive(client: ChatClient, chat: string, call: CallOptions = {}) {
  const sent = client.PATCH('/api/experimental/chats/{chat}', {
    params: { path: { chat } },
    body: { archived: true },
    ...signalOf(call),
  });
  const answer = await ask('archive chat', anyAnswer, sent, call);
  if (answer.ok) return 'archived';
  const state = await readChat(client, chat, call);
  if (state === null) return 'unseen';
  if (state.archived) return 'archived';
  if (answer.refusal.status === 409) return 'active';
  throw refusalError('archive chat', answer.refusal);
}
