/** What is read of the chat answers. */
import { z } from 'zod';
import type { ChatMessage, ChatState } from './port.ts';

export const chatAnswer = z
  .object({
    id: z.string(),
    workspace_id: z.string().nullish(),
    status: z.enum(['waiting', 'running', 'error', 'requires_action', 'interrupting']),
    archived: z.boolean(),
    labels: z.record(z.string(), z.string()).nullish(),
    last_error: z.object({ kind: z.string(), retryable: z.boolean(), message: z.string() }).nullish(),
  })
  .transform((chat): ChatState => ({
    id: chat.id,
    workspaceId: chat.workspace_id ?? null,
    status: chat.status,
    archived: chat.archived,
    labels: chat.labels ?? {},
    lastError: chat.last_error ?? null,
  }));

export const chatListAnswer = z.array(chatAnswer);

export const messagesAnswer = z
  .object({
    messages: z.array(
      z.object({
        id: z.int(),
        role: z.string(),
        content: z.array(z.object({ type: z.string(), text: z.string().default('') })),
      }),
    ),
  })
  .transform(({ messages }): readonly ChatMessage[] =>
    messages.map(({ id, role, content }) => ({
      id,
      role,
      text: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'),
    })),
  );

export const sentAnswer = z.object({ queued: z.boolean() });
