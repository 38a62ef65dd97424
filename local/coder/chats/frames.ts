/** What the stream of a chat tells: messages, states, tries again. Frames are lists of events without an envelope. */
import { EventEmitter } from 'node:events';
import type { Message, Provider } from '../state/records.ts';
import { messageView, textPart } from './messages.ts';

export type ChatEvent = Readonly<Record<string, unknown>>;

export interface Frames {
  tell(chatId: string, events: readonly ChatEvent[]): void;
  /** Calls until the returned function is called. */
  hear(chatId: string, call: (events: readonly ChatEvent[]) => void): () => void;
}

export function frames(): Frames {
  const emitter = new EventEmitter<Record<string, [readonly ChatEvent[]]>>();
  emitter.setMaxListeners(0);
  return {
    tell: (chatId, events) => void emitter.emit(chatId, events),
    hear(chatId, call) {
      emitter.on(chatId, call);
      return () => emitter.off(chatId, call);
    },
  };
}

export const messageEvent = (message: Message): ChatEvent => ({
  type: 'message',
  chat_id: message.chatId,
  message: messageView(message),
});

export const statusEvent = (chatId: string, status: string): ChatEvent => ({
  type: 'status',
  chat_id: chatId,
  status: { status },
});

/** What was streamed of a message that is not whole yet is void. */
export const previewReset = (chatId: string): ChatEvent => ({ type: 'preview_reset', chat_id: chatId });

/** A turn's text comes whole here, so its one part is all of it. */
export const partEvent = (chatId: string, text: string): ChatEvent => ({
  type: 'message_part',
  chat_id: chatId,
  message_part: { role: 'assistant', part: textPart(text), history_version: 1, generation_attempt: 1, seq: 1 },
});

export const retryEvent = (
  chatId: string,
  retry: { readonly attempt: number; readonly delayMs: number; readonly error: string; readonly kind: string },
  provider: Provider | undefined,
  at: string,
): ChatEvent => ({
  type: 'retry',
  chat_id: chatId,
  retry: {
    attempt: retry.attempt,
    delay_ms: retry.delayMs,
    error: retry.error,
    kind: retry.kind,
    provider: provider?.type ?? '',
    retrying_at: at,
  },
});
