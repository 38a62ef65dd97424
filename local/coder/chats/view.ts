/** A chat as the API shows one. */
import type { LocalCoderContext } from '../context.ts';
import type { Chat } from '../state/records.ts';

/** The context of a workspace is there some time after the first turn in it. */
const CONTEXT_MS = 20_000;

export function chatView(coder: LocalCoderContext, chat: Chat) {
  const { state } = coder;
  const owner = state.users.get(chat.ownerId);
  return {
    id: chat.id,
    organization_id: state.organizationId,
    owner_id: chat.ownerId,
    owner_username: owner?.username ?? '',
    owner_name: owner?.name ?? '',
    ...(chat.workspaceId === null ? {} : { workspace_id: chat.workspaceId }),
    ...(chat.bound === null ? {} : { build_id: chat.bound.buildId, agent_id: chat.bound.agentId }),
    root_chat_id: chat.id,
    last_model_config_id: chat.modelConfigId,
    title: chat.title,
    status: chat.status,
    ...(chat.lastError === null ? {} : { last_error: failureView(chat.lastError) }),
    last_turn_summary: chat.lastTurnSummary,
    summary: null,
    created_at: chat.createdAt,
    updated_at: chat.updatedAt,
    archived: chat.archived,
    shared: false,
    pin_order: 0,
    mcp_server_ids: [],
    labels: chat.labels,
    has_unread: false,
    ...(hasContext(coder, chat) ? { context: { dirty: false } } : {}),
    client_type: 'api',
    children: [],
  };
}

export function hasContext({ state, clock }: LocalCoderContext, { id, bound, hadContext }: Chat): boolean {
  const usedTools = state.messages.of(id).some(({ role }) => role === 'tool');
  const isOld = bound !== null && clock.now().getTime() - Date.parse(bound.at) >= CONTEXT_MS;
  return hadContext || usedTools || isOld;
}

/** Lists show one besides: of pull requests, which no chat here makes. */
export function diffStatus({ id }: Chat) {
  const none = { pull_request_title: '', pull_request_draft: false, changes_requested: false };
  return { diff_status: { chat_id: id, ...none, additions: 0, deletions: 0, changed_files: 0 } };
}

function failureView({ statusCode, ...failure }: NonNullable<Chat['lastError']>) {
  return { ...failure, ...(statusCode === null ? {} : { status_code: statusCode }) };
}
