/** What workspaces and the agents in them come to. None of it is a verdict; a loss starts a new execution, bounded. */
import type { EventOf } from '../../schemas/ticket/event.ts';
import { isWorkPhase, type WorkPhase } from '../../schemas/ticket/phase.ts';
import { STATE_LIMITS, type TicketState, type TicketWorkspace } from '../../schemas/ticket/state.ts';
import { TICKET_BOUNDS } from './bounds.ts';
import { mismatch, moved, newExecution, noted, refused, stop, type Change } from './outcome.ts';

export function onWorkspaceStarted(state: TicketState, event: EventOf<'workspaceStarted'>): Change {
  const { run, role } = event;
  const live = state.workspaces.find((workspace) => workspace.role === role && workspace.status !== 'releasing');
  // Never two agents on one branch.
  if (live !== undefined) return mismatch(event.type, 'workspace', run, live.run);
  if (state.workspaces.length >= STATE_LIMITS.workspaces) {
    return mismatch(event.type, 'workspace', run, 'fewer that are still ending');
  }
  const workspaceGeneration = state.workspaceGenerations[role] + 1;
  const started: TicketWorkspace = {
    run,
    role,
    workspaceGeneration,
    status: 'starting',
    coderWorkspaceId: null,
    turns: 0,
  };
  return noted(
    {
      ...state,
      workspaces: [...state.workspaces, started],
      workspaceGenerations: { ...state.workspaceGenerations, [role]: workspaceGeneration },
    },
    `${role} workspace ${workspaceGeneration} asked for`,
  );
}

export function onWorkspaceReady(state: TicketState, event: EventOf<'workspaceReady'>): Change {
  return changed(state, event, (workspace) =>
    workspace.status === 'starting'
      ? { ...workspace, status: 'ready', coderWorkspaceId: event.coderWorkspaceId }
      : workspace,
  );
}

export function onWorkspaceReleased(state: TicketState, event: EventOf<'workspaceReleased'>): Change {
  return changed(state, event, (workspace) => ({ ...workspace, status: 'releasing' }));
}

export function onAgentAsked(state: TicketState, event: EventOf<'agentAsked'>): Change {
  return changed(state, event, (workspace) => ({ ...workspace, turns: workspace.turns + 1 }));
}

function changed(
  state: TicketState,
  event: { readonly type: string; readonly run: string },
  change: (workspace: TicketWorkspace) => TicketWorkspace,
): Change {
  const found = state.workspaces.find((workspace) => workspace.run === event.run);
  if (found === undefined) return mismatch(event.type, 'workspace', event.run, 'one of its own');
  const workspaces = state.workspaces.map((workspace) => (workspace === found ? change(workspace) : workspace));
  return noted({ ...state, workspaces }, `${event.type} ${event.run}`);
}

export function onAgentFailed(state: TicketState, event: EventOf<'agentFailed'>): Change {
  const { phase } = state;
  if (!isWorkPhase(phase)) return refused('ticket_phase', { event: event.type, phase });
  if (!state.workspaces.some((workspace) => workspace.run === event.run)) {
    return mismatch(event.type, 'workspace', event.run, 'one of its own');
  }
  return afterFailure(state, phase, `agent: ${event.outcome}`);
}

export function onWorkspaceEnded(state: TicketState, event: EventOf<'workspaceEnded'>): Change {
  const ended = state.workspaces.find((workspace) => workspace.run === event.run);
  if (ended === undefined) return mismatch(event.type, 'workspace', event.run, 'one of its own');
  const without = { ...state, workspaces: state.workspaces.filter((workspace) => workspace !== ended) };
  const detail = `${ended.role} workspace ${ended.workspaceGeneration} ended (${event.trigger}, ${event.fate})`;
  const { phase } = state;
  const atWork = isWorkPhase(phase) && WORKERS[phase] === ended.role && state.documentation === null;
  if (!atWork || ended.status === 'releasing') return noted(without, detail);
  if (event.became === 'never_ready') return afterFailure(without, phase, detail);
  return afterLoss(without, phase, detail);
}

/** Whose workspace a phase works in; what LORE submitted is not lost with it. */
const WORKERS: Readonly<Partial<Record<WorkPhase, 'forge' | 'lore'>>> = {
  planning: 'forge',
  building: 'forge',
  documenting: 'lore',
};

/** Nothing that was pushed is lost: what was decided on the revision still holds. */
function afterFailure(state: TicketState, phase: WorkPhase, detail: string): Change {
  const counted = withFailure(state);
  return counted.attempts.providerFailures >= TICKET_BOUNDS.providerFailures
    ? moved(stop(counted, 'awaiting_human', 'provider_failed', detail, phase), detail)
    : noted(counted, detail);
}

/** The work since the last push is lost: a new execution begins at that checkpoint. */
function afterLoss(state: TicketState, phase: WorkPhase, detail: string): Change {
  const counted = withFailure(state);
  return counted.attempts.providerFailures >= TICKET_BOUNDS.providerFailures
    ? moved(stop(counted, 'awaiting_human', 'recovery_failed', detail, phase), detail)
    : moved(newExecution(counted, phase), detail);
}

function withFailure(state: TicketState): TicketState {
  return { ...state, attempts: { ...state.attempts, providerFailures: state.attempts.providerFailures + 1 } };
}
