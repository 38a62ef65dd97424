/** Messages of chats. Their ids grow over all chats; progress of a turn is a new id. */
import { randomUUID } from 'node:crypto';
import type { LocalCoderContext } from '../context.ts';
import { type ChatEvent, messageEvent, partEvent, previewReset } from './frames.ts';
import type { TurnMessage } from '../runtime.ts';
import type { Chat, Message } from '../state/records.ts';

/** What a tool says when the workspace has no agent: stopped and deleted sound alike. */
export const NO_AGENT =
  'workspace has no running agent: the workspace is likely stopped. Use the start_workspace tool to start it';

export function addMessage(
  { state, clock, frames }: LocalCoderContext,
  chat: Chat,
  message: Pick<Message, 'role' | 'part'>,
): Message {
  const number = state.messages.all().length + 1;
  const added = state.messages.put({
    ...message,
    id: String(number),
    number,
    chatId: chat.id,
    createdBy: message.role === 'user' ? chat.ownerId : null,
    modelConfigId: chat.modelConfigId,
    createdAt: clock.iso(),
  });
  frames.tell(chat.id, eventsOf(added));
  return added;
}

/** Text of an assistant was a preview before it was a message. */
function eventsOf(message: Message): readonly ChatEvent[] {
  const { chatId, role, part } = message;
  if (role !== 'assistant') return [messageEvent(message)];
  const preview = part.type === 'text' ? [partEvent(chatId, part.text)] : [];
  return [...preview, messageEvent(message), previewReset(chatId)];
}

/** A command is its call and its result. `error`: what kept it from running. */
export function addTurnMessage(
  coder: LocalCoderContext,
  chat: Chat,
  message: TurnMessage,
  error: string | null = null,
): void {
  if (message.role === 'assistant') {
    addMessage(coder, chat, { role: 'assistant', part: { type: 'text', text: message.text } });
    return;
  }
  const callId = `call_${randomUUID().slice(0, 8)}`;
  const { command, output, exitCode } = message;
  addMessage(coder, chat, { role: 'assistant', part: { type: 'tool-call', callId, command } });
  addMessage(coder, chat, { role: 'tool', part: { type: 'tool-result', callId, output, exitCode, error } });
}

/** What a model, or a command in its place, is told of a message. */
export function messageText({ part }: Message): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'tool-call':
      return part.command;
    case 'tool-result':
      return part.error ?? part.output;
  }
}

const EMPTY_PART = {
  url: '',
  media_type: '',
  file_id: null,
  file_name: '',
  start_line: 0,
  end_line: 0,
  content: '',
  context_file_path: '',
  context_file_agent_id: null,
  skill_name: '',
};

export function textPart(text: string) {
  return { type: 'text', text, mcp_server_config_id: null, ...EMPTY_PART };
}

export function messageView(message: Message) {
  return {
    id: message.number,
    chat_id: message.chatId,
    ...(message.createdBy === null ? {} : { created_by: message.createdBy }),
    model_config_id: message.modelConfigId,
    created_at: message.createdAt,
    role: message.role,
    content: [partView(message)],
    ...(message.role === 'assistant'
      ? { usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0, context_limit: 200_000 } }
      : {}),
  };
}

function partView({ part, createdAt }: Message) {
  switch (part.type) {
    case 'text':
      return textPart(part.text);
    case 'tool-call':
      return {
        ...textPart(''),
        type: part.type,
        tool_call_id: part.callId,
        tool_name: 'execute',
        args: { command: part.command },
        parsed_commands: part.command.split(/\s*;\s*/).map((one) => one.split(/\s+/)),
        created_at: createdAt,
      };
    case 'tool-result':
      return {
        ...textPart(''),
        type: part.type,
        tool_call_id: part.callId,
        tool_name: 'execute',
        created_at: createdAt,
        ...(part.error === null
          ? {
              result: {
                output: part.output,
                success: part.exitCode === 0,
                exit_code: part.exitCode,
                wall_duration_ms: 0,
              },
            }
          : { result: { error: part.error }, is_error: true }),
      };
  }
}
