/**
 * The workspaces of one verification: each started with its name known before, waited for, released, and heard of until it is
 * gone. Started with `ABANDON`: a workspace outlives a terminated owner until the reconciler has it (DESIGN section 5).
 */
import {
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  setHandler,
  startChild,
  defineSignal,
  workflowInfo,
} from '@temporalio/workflow';
import { workspaceWorkflowId } from '../../schemas/workflow-ids.ts';
import {
  WORKSPACE_SIGNALS,
  WORKSPACE_WORKFLOWS,
  type WorkspaceEnded,
  type WorkspaceInput,
  type WorkspaceReady,
  type WorkspaceRelease,
} from '../../schemas/workspace/workflow.ts';
import { SEATS_A_ROLE, type SubjectParameters } from '../../schemas/verification/workflow.ts';

/** How long the proof that a workspace is gone is waited for; after it the reconciler and its incident have it. */
const GONE_BOUND = '20 minutes';

export type Acquired =
  | { readonly kind: 'ready'; readonly ready: WorkspaceReady }
  | { readonly kind: 'ended'; readonly ended: WorkspaceEnded };

export interface Seats {
  /** A fresh workspace of the role; `session` counts those of this verification from 1. */
  acquire(role: 'verifier' | 'sentinel', session: number, purpose: string): Promise<Acquired>;
  /** True once that workspace has ended, asked or not. */
  hasEnded(run: string): boolean;
  release(run: string, reason: string): Promise<void>;
  /** Releases what is left and waits for the end of each. Ids of all that were ever started. */
  close(): Promise<readonly string[]>;
}

interface Seat {
  ready: WorkspaceReady | null;
  ended: WorkspaceEnded | null;
  released: boolean;
}

/** Sets the handlers of the two signals, so it comes before anything that waits. */
export function openSeats(parameters: SubjectParameters, n: number): Seats {
  const seats = new Map<string, Seat>();
  setHandler(defineSignal<[WorkspaceReady]>(WORKSPACE_SIGNALS.ready), (ready) => {
    const seat = seats.get(ready.run);
    if (seat !== undefined) seat.ready = ready;
  });
  setHandler(defineSignal<[WorkspaceEnded]>(WORKSPACE_SIGNALS.ended), (ended) => {
    const seat = seats.get(ended.run);
    if (seat !== undefined) seat.ended = ended;
  });

  const release = async (run: string, reason: string): Promise<void> => {
    const seat = seats.get(run);
    if (seat === undefined || seat.released || seat.ended !== null) return;
    seat.released = true;
    const told: WorkspaceRelease = { trigger: 'evaluated', reason };
    // One that is closed already needs no telling.
    await getExternalWorkflowHandle(run)
      .signal(WORKSPACE_SIGNALS.release, told)
      .catch(() => {});
  };

  return {
    async acquire(role, session, purpose) {
      const { tenant, ticket, execution, change } = parameters;
      const workspaceGeneration = (n - 1) * SEATS_A_ROLE + session;
      const run = workspaceWorkflowId({ tenant, ticket, role, workspaceGeneration });
      const seat: Seat = { ready: null, ended: null, released: false };
      seats.set(run, seat);
      const input: WorkspaceInput = {
        tenant,
        ticket,
        role,
        workspaceGeneration,
        execution,
        purpose,
        source: { head: change.head, branch: null },
        ttlSeconds: parameters.definition.ttlSeconds[role] ?? null,
        owner: workflowInfo().workflowId,
      };
      await startChild(WORKSPACE_WORKFLOWS.workspace, {
        workflowId: run,
        args: [input],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        staticSummary: `${role} for ${ticket}: ${purpose}`.slice(0, 200),
      });
      await condition(() => seat.ready !== null || seat.ended !== null);
      if (seat.ended !== null) return { kind: 'ended', ended: seat.ended };
      if (seat.ready === null) throw new Error('a workspace is neither ready nor ended');
      return { kind: 'ready', ready: seat.ready };
    },
    hasEnded: (run) => (seats.get(run)?.ended ?? null) !== null,
    release,
    async close() {
      for (const run of seats.keys()) await release(run, 'the verification is over');
      await condition(() => [...seats.values()].every(({ ended }) => ended !== null), GONE_BOUND);
      return [...seats.keys()];
    },
  };
}
