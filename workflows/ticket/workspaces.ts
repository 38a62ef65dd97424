/**
 * The workspaces of the ticket's own agents. Each is started with `ABANDON`, since this workflow continues as new (DESIGN
 * section 5), recorded before it is started, and heard of by signal until it is gone.
 */
import {
  CancellationScope,
  condition,
  defineSignal,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  proxyActivities,
  setHandler,
  sleep,
  startChild,
} from '@temporalio/workflow';
import { liveWorkspace } from '../../policies/tickets/position.ts';
import { ticketLine } from '../../policies/tickets/summary.ts';
import type { GitActivities } from '../../schemas/git/activities.ts';
import { branchOf } from '../../schemas/git/refs.ts';
import { isStopped, isTerminal } from '../../schemas/ticket/phase.ts';
import type { TicketWorkspace } from '../../schemas/ticket/state.ts';
import { workspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import {
  WORKSPACE_SIGNALS,
  WORKSPACE_WORKFLOWS,
  type TeardownTrigger,
  type WorkspaceEnded,
  type WorkspaceEnding,
  type WorkspaceInput,
  type WorkspaceReady,
  type WorkspaceRelease,
} from '../../schemas/workspace/workflow.ts';
import { GIT } from './options.ts';
import { commit, happen, now, type Session } from './session.ts';

const { placeBranch } = proxyActivities<GitActivities>(GIT);

export type ProducerRole = 'forge' | 'lore';

/** How long the proof that they are gone is waited for; after it the reconciler and its incidents have them. */
const GONE_BOUND = '30 minutes';
/** Longer than a workspace that ends may still push. */
const BRANCH_BOUND = '90 seconds';

export function hearWorkspaces(session: Session): void {
  setHandler(defineSignal<[WorkspaceReady]>(WORKSPACE_SIGNALS.ready), ({ run, coderWorkspaceId }) => {
    happen(session, { type: 'workspaceReady', run, coderWorkspaceId, ...now('workspace') });
  });
  setHandler(defineSignal<[WorkspaceEnding]>(WORKSPACE_SIGNALS.ending), ({ run }) => void session.ending.add(run));
  setHandler(defineSignal<[WorkspaceEnded]>(WORKSPACE_SIGNALS.ended), ({ run, trigger, became, fate, reason }) => {
    session.gone.add(run);
    happen(session, { type: 'workspaceEnded', run, trigger, became, fate, reason, ...now('workspace') });
  });
}

/** The ready workspace of the role, started when there is none; `null` when it ended before it was ready. */
export async function readyWorkspace(session: Session, role: ProducerRole): Promise<TicketWorkspace | null> {
  await untilBranchIsFree(session, role);
  // Not to be interrupted between the record and the start: a workspace that is recorded and never started would be awaited for ever.
  if (liveWorkspace(session.state, role) === null) {
    await CancellationScope.nonCancellable(() => startWorkspace(session, role));
  }
  await condition(() => liveWorkspace(session.state, role)?.status !== 'starting');
  return liveWorkspace(session.state, role);
}

/** One that is ending may push once more: never two agents on one branch. The seat of the next refuses it in any case. */
async function untilBranchIsFree(session: Session, role: ProducerRole): Promise<void> {
  const isFree = () => !session.state.workspaces.some((one) => one.role === role && one.status === 'releasing');
  await condition(isFree, BRANCH_BOUND);
}

async function startWorkspace(session: Session, role: ProducerRole): Promise<void> {
  const { tenant, ticketId, execution, merge } = session.state;
  const { definition } = session.input;
  const branch = branchOf(role, ticketId);
  const head = role === 'lore' && merge !== null ? merge.candidate : session.state.head;
  if (branch !== null) {
    const { former } = await placeBranch({ tenant, pair: ticketId, branch, commit: head });
    if (former !== null) session.former.set(branch, former);
  }
  const workspaceGeneration = session.state.workspaceGenerations[role] + 1;
  const run = workspaceWorkflowId({ tenant, ticket: ticketId, role, workspaceGeneration });
  const started = await commit(session, { type: 'workspaceStarted', run, role, ...now('ticket') });
  // The ticket moved on while the branch was placed.
  if (!started.ok) return;
  const input: WorkspaceInput = {
    tenant,
    ticket: ticketId,
    role,
    workspaceGeneration,
    execution,
    purpose: ticketLine(session.state),
    source: { head, branch },
    ttlSeconds: definition.ttlSeconds[role] ?? null,
    owner: session.workflowId,
  };
  await startChild(WORKSPACE_WORKFLOWS.workspace, {
    workflowId: run,
    args: [input],
    parentClosePolicy: ParentClosePolicy.ABANDON,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    staticSummary: `${role} for ${ticketId}: ${definition.title}`.slice(0, 200),
  });
}

/** A workspace that failed us is not asked for again at once. */
export async function backOff(session: Session): Promise<void> {
  await sleep(Math.min(60, 2 ** session.state.attempts.providerFailures) * 1000);
}

/** Releases every workspace that the ticket has no use for where it is now. */
export async function releaseUnneeded(session: Session): Promise<void> {
  const { phase } = session.state;
  for (const workspace of session.state.workspaces) {
    if (workspace.status === 'releasing' || isNeeded(session, workspace)) continue;
    const trigger = phase === 'documenting' ? 'merged' : 'failed';
    await CancellationScope.nonCancellable(() => release(session, workspace, trigger, `the ticket is ${phase}`));
  }
}

/** FORGE's lives until the change has landed, LORE's while it documents; a stopped ticket holds none, since its work is in git. */
function isNeeded({ state: { phase } }: Session, { role }: TicketWorkspace): boolean {
  if (isStopped(phase) || isTerminal(phase)) return false;
  return role === (phase === 'documenting' ? 'lore' : 'forge');
}

async function release(
  session: Session,
  { run }: TicketWorkspace,
  trigger: TeardownTrigger,
  reason: string,
): Promise<void> {
  await commit(session, { type: 'workspaceReleased', run, ...now('ticket') });
  const told: WorkspaceRelease = { trigger, reason };
  try {
    await getExternalWorkflowHandle(run).signal(WORKSPACE_SIGNALS.release, told);
  } catch {
    // It is closed and says nothing more; whether it left anything is the reconciler's to find out.
    session.gone.add(run);
    const ended = {
      trigger: 'orphaned',
      became: 'ended',
      fate: 'quarantined',
      reason: 'its workflow is closed',
    } as const;
    happen(session, { type: 'workspaceEnded', run, ...ended, ...now('ticket') });
  }
}

/** At the end: every workspace is released, and its last word awaited. */
export async function releaseAll(session: Session, trigger: TeardownTrigger): Promise<void> {
  const { workspaces, phase } = session.state;
  for (const workspace of workspaces) {
    if (workspace.status !== 'releasing') await release(session, workspace, trigger, `the ticket is ${phase}`);
  }
  await condition(() => workspaces.every(({ run }) => session.gone.has(run)), GONE_BOUND);
}
