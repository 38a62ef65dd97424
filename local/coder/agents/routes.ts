/** Agents and what their start scripts say. */
import type { LocalCoderContext } from '../context.ts';
import { notFound } from '../http/refusal.ts';
import { pathId, queryNumber } from '../http/request.ts';
import { ok, type Route } from '../http/route.ts';
import type { Asker } from '../http/asker.ts';
import type { Agent } from '../state/records.ts';
import { visibleWorkspace } from '../workspaces/visible.ts';
import { agentView } from './view.ts';

export function agentRoutes(coder: LocalCoderContext): readonly Route[] {
  const agentOf = (asker: Asker, id: string): Agent => {
    const agent = coder.state.agents.get(id);
    if (agent === undefined) throw notFound();
    visibleWorkspace(coder, asker, agent.workspaceId);
    return agent;
  };
  return [
    {
      method: 'GET',
      path: '/api/v2/workspaceagents/:agent',
      work: (request, asker) => ok(agentView(coder, agentOf(asker, pathId(request, 'agent')))),
    },
    {
      method: 'GET',
      path: '/api/v2/workspaceagents/:agent/logs',
      work: (request, asker) => {
        const agent = agentOf(asker, pathId(request, 'agent'));
        const lines = coder.state.logs.read(agent.id, queryNumber(request, 'after'));
        return ok(
          lines.map(({ id, at, text, level }) => ({
            id,
            created_at: at,
            output: text,
            level,
            source_id: agent.logSourceId,
          })),
        );
      },
    },
  ];
}
