/** The agent port, bound to Coder's chats. */
import { Context } from '@temporalio/activity';
import { readiness } from '../../schemas/coder/build.ts';
import { portcullisError, PortcullisError } from '../../schemas/errors.ts';
import { parseWorkspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import type { AgentActivities } from '../../schemas/workspace/agent.ts';
import type { CoderPort } from '../coder/port.ts';
import type { WorkspaceDependencies } from '../workspaces/dependencies.ts';
import { agentTurn } from './turn.ts';

/** From the moment that a workspace counts as lost until its owner hears of it: a look, a gap between two watches, its teardown. */
const LOSS_MS = 60_000;

/** @throws `coder_not_configured` where no server, or no identity that may use chats, is set up */
export function agentActivities({
  coder,
  registry,
  staleAfterMs,
}: Pick<WorkspaceDependencies, 'coder' | 'registry' | 'staleAfterMs'>): AgentActivities {
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
          isThere: () => isThere(coder.port, turn.coderWorkspaceId),
          absenceMs: isAwaited(turn.run) ? staleAfterMs + LOSS_MS : 0,
        },
        turn,
      );
    },
  };
}

/** A ticket hears of the end of its own workspaces; a reviewer that is lost is replaced by its verification at once. */
function isAwaited(run: string): boolean {
  const { role } = parseWorkspaceWorkflowId(run);
  return role === 'forge' || role === 'lore';
}

async function isThere(port: CoderPort, coderWorkspaceId: string): Promise<boolean> {
  try {
    const reading = await port.readById(coderWorkspaceId);
    return reading.seen === 'unseen' || (reading.seen !== 'deleted' && readiness(reading.workspace.build) === 'ready');
  } catch (thrown) {
    if (thrown instanceof PortcullisError) return true;
    throw thrown;
  }
}
