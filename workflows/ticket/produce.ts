/** FORGE and LORE at work: a workspace, and turns of its agent until something is submitted. */
import { ActivityFailure, condition, isCancellation, proxyActivities } from '@temporalio/workflow';
import { assignmentOf, turnPrompt } from '../../policies/tickets/assignment.ts';
import { ticketLine } from '../../policies/tickets/summary.ts';
import type { AgentFailure } from '../../schemas/ticket/event.ts';
import type { TicketActivities } from '../../schemas/ticket/activities.ts';
import type { AgentActivities, AgentTurn } from '../../schemas/workspace/agent.ts';
import { WRITING, turnOptions } from './options.ts';
import { commit, now, settled, type Session } from './session.ts';
import { backOff, readyWorkspace, type ProducerRole } from './workspaces.ts';

const { writeAssignment } = proxyActivities<TicketActivities>(WRITING);

/** A turn ends before the workspace's own life does; one without progress ends sooner. */
const TURN_SECONDS = 1_500;
const STALL_SECONDS = 300;

/** One turn. It changes nothing by itself: the agent submits through the gateway, and that moves the ticket. */
export async function produce(session: Session, role: ProducerRole): Promise<void> {
  const { revision } = session.state;
  const workspace = await readyWorkspace(session, role);
  if (workspace?.coderWorkspaceId == null) {
    await backOff(session);
    return;
  }
  const { run } = workspace;
  if (session.ending.has(run)) {
    await untilGone(session, run);
    return;
  }
  const asked = await commit(session, { type: 'agentAsked', run, ...now('ticket') });
  if (!asked.ok) return;
  const { tenant } = session.state;
  const assignment = assignmentOf(session.state, session.input.definition, { ...workspace, role });
  // LORE documents what has landed: nothing stands in its way.
  const blockers = role === 'forge' ? session.state.blockers : [];
  await writeAssignment({ tenant, assignment, blockers });
  const outcome = await turnOf(session, {
    tenant,
    run,
    coderWorkspaceId: workspace.coderWorkspaceId,
    turn: workspace.turns + 1,
    prompt: turnPrompt(assignment, session.former.get(assignment.branch) ?? null),
    timeoutSecs: TURN_SECONDS,
    stallSecs: STALL_SECONDS,
  });
  // It may have submitted at the very end.
  await settled(session);
  if (session.state.revision !== revision) return;
  if (session.ending.has(run)) {
    // The turn was broken off by the end of its workspace: that is a loss, and no failure of the agent.
    await untilGone(session, run);
    return;
  }
  const failed = await commit(session, { type: 'agentFailed', run, outcome, ...now('agent') });
  if (failed.ok && failed.state.revision === revision) await backOff(session);
}

/** Its last word moves the ticket. */
async function untilGone(session: Session, run: string): Promise<void> {
  await condition(() => session.gone.has(run));
}

/** What went wrong with the turn, should nothing have been submitted. */
async function turnOf(session: Session, turn: AgentTurn): Promise<AgentFailure> {
  const { agentTurn } = proxyActivities<AgentActivities>(turnOptions(turn.timeoutSecs, ticketLine(session.state)));
  try {
    const answer = await agentTurn(turn);
    return answer.outcome === 'answered' ? 'no_submission' : answer.outcome;
  } catch (thrown) {
    if (isCancellation(thrown) || !(thrown instanceof ActivityFailure)) throw thrown;
    return 'errored';
  }
}
