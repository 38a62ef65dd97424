/** Creating a chat: its first prompt starts running at once. A deleted workspace is bound without a word. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { LocalCoderContext } from '../context.ts';
import type { Asker } from '../http/asker.ts';
import { forbidden, refuse, refuseFields } from '../http/refusal.ts';
import { bodyId } from '../http/request.ts';
import type { Chat, ModelConfig } from '../state/records.ts';
import { sees } from '../workspaces/visible.ts';
import { addMessage } from './messages.ts';

export const content = z.array(z.object({ type: z.string(), text: z.string().default('') }));

export const chatRequest = z.object({
  organization_id: bodyId.nullish(),
  content: content.nullish(),
  workspace_id: bodyId.nullish(),
  model_config_id: bodyId.nullish(),
  labels: z.record(z.string(), z.string()).nullish(),
});
export type ChatRequest = z.infer<typeof chatRequest>;

const LABEL_KEY = /^[a-zA-Z0-9][a-zA-Z0-9._/-]*$/;
const TITLE_LENGTH = 80;

export function createChat(coder: LocalCoderContext, asker: Asker, request: ChatRequest): Chat {
  const { state, clock, turns } = coder;
  if (!asker.mayChat) throw forbidden();
  if ((request.organization_id ?? null) === null) throw refuse(400, 'organization_id is required.');
  const text = contentText(request.content ?? []);
  const labels = checkLabels(request.labels ?? {});
  const workspaceId = request.workspace_id ?? null;
  checkWorkspace(coder, asker, workspaceId);
  const model = modelOf(coder, request.model_config_id ?? null);
  const at = clock.iso();
  const chat = state.chats.put({
    id: randomUUID(),
    ownerId: asker.user.id,
    workspaceId,
    bound: null,
    hadContext: false,
    modelConfigId: model.id,
    title: text.slice(0, TITLE_LENGTH),
    status: 'running',
    lastError: null,
    lastTurnSummary: null,
    archived: false,
    labels,
    queue: [],
    createdAt: at,
    updatedAt: at,
  });
  addMessage(coder, chat, { role: 'user', part: { type: 'text', text } });
  // After the answer: what is created says `running` and knows no agent yet.
  setImmediate(() => turns.start(chat.id));
  return chat;
}

/** @throws 400 for none */
export function contentText(parts: z.infer<typeof content>): string {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  if (text === '') throw refuse(400, 'Content is required.', 'Content cannot be empty.');
  return text;
}

/** @throws 400 for one that is absent or not visible; a deleted one is taken */
export function checkWorkspace({ state }: LocalCoderContext, asker: Asker, id: string | null): void {
  if (id === null) return;
  const workspace = state.workspaces.get(id);
  if (workspace === undefined || !sees(asker, workspace)) {
    throw refuse(400, 'Workspace not found or you do not have access to this resource');
  }
}

export function checkLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const bad = Object.keys(labels).find((key) => !LABEL_KEY.test(key));
  if (bad === undefined) return Object.fromEntries(Object.entries(labels).sort());
  const detail = `label key "${bad}" contains invalid characters; must match ${LABEL_KEY.source}`;
  throw refuseFields('Invalid labels.', [{ field: 'labels', detail }]);
}

function modelOf({ state }: LocalCoderContext, id: string | null): ModelConfig {
  const enabled = state.models.all().filter((model) => model.enabled);
  if (id !== null) {
    const model = enabled.find((one) => one.id === id);
    if (model === undefined) throw refuse(400, 'Invalid model_config_id: model config not found or disabled.');
    return model;
  }
  const model = enabled.find(({ isDefault }) => isDefault);
  if (model === undefined) throw refuse(400, 'No default chat model config is configured.');
  return model;
}
