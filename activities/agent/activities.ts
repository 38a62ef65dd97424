/** The agent port, bound to Coder's chats. */
import { Context } from '@temporalio/activity';
import { portcullisError } from '../../schemas/errors.ts';
import type { AgentActivities } from '../../schemas/workspace/agent.ts';
import type { WorkspaceDependencies } from '../workspaces/dependencies.ts';
import { agentTurn } from './turn.ts';

/** @throws `coder_not_configured` where no server, or no identity that may use chats, is set up */
export function agentActivities({
  coder,
  registry,
}: Pick<WorkspaceDependencies, 'coder' | 'registry'>): AgentActivities {
  return {
    agentTurn: (turn) => {
      const chats = coder?.chats ?? null;
      if (coder === null || chats === null) throw portcullisError('coder_not_configured');
      const { heartbeat, cancellationSignal } = Context.current();
      return agentTurn(
        {
          chats,
          // Whatever template of ours: they are all of the one organization that is set.
          organizationId: async () =>
            (await coder.port.template(coder.organization, registry.registry.agents.sentinel.template)).organizationId,
          alive: () => heartbeat(),
          cancellation: cancellationSignal,
          now: () => performance.now(),
        },
        turn,
      );
    },
  };
}
