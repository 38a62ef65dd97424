/** The agent that a chat works through: found lazily, gone stale with each build, and found again. */
import { agentStatus } from '../agents/agents.ts';
import type { LocalCoderContext } from '../context.ts';
import type { Chat } from '../state/records.ts';

/** The chat, bound to the connected agent of its workspace if there is one; else as it was. */
export function bind(coder: LocalCoderContext, chat: Chat): Chat {
  const { state, clock } = coder;
  const workspace = state.workspaces.get(chat.workspaceId ?? '');
  const agent = workspace === undefined ? undefined : state.agents.of(workspace.buildId).at(0);
  if (agent === undefined || chat.bound?.agentId === agent.id || agentStatus(coder, agent) !== 'connected') return chat;
  return state.chats.put({ ...chat, bound: { buildId: agent.buildId, agentId: agent.id, at: clock.iso() } });
}
