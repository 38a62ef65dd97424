/**
 * The last word with an agent before its workspace goes (spec/workspaces.md section 4): whatever it is doing is broken off, it is
 * asked to push, and it gets the time that the control plane gives it, whatever it claims.
 */
import type { PushAnswer, PushRequest } from '../../schemas/workspace/activities.ts';
import { pushPrompt } from '../../schemas/workspace/push.ts';
import type { ChatLister, ChatPort, ChatState } from '../coder/chats/port.ts';
import type { WorkspaceDependencies } from './dependencies.ts';
import { CHAT_LABEL } from './destroy.ts';
import { lookUntil, type Pulse } from './pulse.ts';

type Chats = ChatPort & ChatLister;

/** The newest messages looked at for the question, when a repeated step looks whether it was asked. */
const MESSAGE_WINDOW = 20;

/** @throws the codes of the chat port, `store_unavailable` */
export async function askToPush(
  needs: WorkspaceDependencies,
  { run, tenant, seconds }: PushRequest,
  pulse: Pulse,
): Promise<PushAnswer> {
  // A push would be refused: no reason to keep anything alive for it.
  if ((await needs.store.readKillSwitch(tenant)) !== null) return { came: 'refused' };
  const chats = needs.coder?.chats ?? null;
  const open = chats === null ? [] : await chats.list({ key: CHAT_LABEL, value: run }, pulse);
  const chat = open.find(({ archived }) => !archived);
  if (chats === null || chat === undefined) return { came: 'nobody' };
  const until = pulse.now() + seconds * 1000;
  const prompt = pushPrompt(seconds);
  await ask(chats, chat, prompt, pulse);
  const isOver = await lookUntil(
    pulse,
    Math.max(0, until - pulse.now()),
    () => isAnswered(chats, chat.id, prompt, pulse),
    (answered) => answered,
  );
  return { came: isOver ? 'idle' : 'time_over' };
}

/** A message behind a running turn starts the next one as soon as that is broken off. A repeated step asks once. */
async function ask(chats: Chats, chat: ChatState, prompt: string, pulse: Pulse): Promise<void> {
  const before = await chats.messages(chat.id, MESSAGE_WINDOW, pulse);
  if (before.some(({ role, text }) => role === 'user' && text === prompt)) return;
  await chats.send(chat.id, prompt, pulse);
  if (chat.status !== 'waiting') await chats.interrupt(chat.id, pulse);
}

/** Idle, and it has said something since; an error is an end as well. */
async function isAnswered(chats: Chats, chatId: string, prompt: string, pulse: Pulse): Promise<boolean> {
  const chat = await chats.read(chatId, pulse);
  if (chat === null || chat.archived || chat.status === 'error') return true;
  if (chat.status !== 'waiting') return false;
  const messages = await chats.messages(chatId, MESSAGE_WINDOW, pulse);
  const question = messages.find(({ role, text }) => role === 'user' && text === prompt);
  if (question === undefined) return false;
  return messages.some(({ id, role, text }) => role === 'assistant' && id > question.id && text.trim() !== '');
}
