/** The activities that the verify workflow calls: names, inputs and results. Implemented in `activities/verify/`. */
import type { PairHead } from '../pair.ts';
import type { Seat } from '../queues.ts';
import type { SignedAction } from './action.ts';
import type { ExecutorReport } from './report.ts';
import type { AcceptedRequest } from './request.ts';
import type { DefinitionDigest, VerifyResult } from './result.ts';
import type { TaskPhase } from './task.ts';

/** What the control worker learned from its own repository and signed, before anything is dispatched. */
export interface PreparedRun {
  readonly signed: SignedAction;
  /** Git tree of the pinned commit. */
  readonly treeBefore: string;
  readonly definitions: readonly DefinitionDigest[];
}

export interface TurnRequest {
  readonly seat: Seat;
  readonly workflowId: string;
  readonly taskId: string;
  /** Number of the status event to append when something changed; grows within the workflow. */
  readonly offset: number;
  /** The place that was last shown, so that an unchanged one makes no event. */
  readonly shown: number | null;
}

/** `go`: first in line and the executor is idle. */
export type Turn =
  | { readonly kind: 'go' }
  | { readonly kind: 'queued'; readonly place: number }
  | { readonly kind: 'settling' }
  | { readonly kind: 'absent' };

export interface PhaseNotice {
  readonly tenant: string;
  readonly taskId: string;
  readonly offset: number;
  readonly phase: TaskPhase;
  readonly detail: string;
}

export interface RunEnding {
  readonly accepted: AcceptedRequest;
  readonly n: number;
  readonly result: VerifyResult;
  readonly offset: number;
}

/** Run in the control worker's own process: they cost no hop. */
export interface VerifyLocalActivities {
  /** @throws `not_found` when the commit is not in the control plane's repository, `policy_mismatch`. */
  prepareRun(accepted: AcceptedRequest): Promise<PreparedRun>;
  takeTurn(request: TurnRequest): Promise<Turn>;
  announcePhase(notice: PhaseNotice): Promise<void>;
  currentHead(tenant: string, pair: string): Promise<PairHead | null>;
}

export interface VerifyActivities {
  /** Persists result, pointer, audit entry and terminal event in one step and reads them back. Repeatable. */
  endRun(ending: RunEnding): Promise<void>;
}

/** The one activity of an executor, on its own queue. */
export interface ExecutorActivities {
  runCommand(signed: SignedAction): Promise<ExecutorReport>;
}

/** Names of the signals that the gateway and the control worker send to a running verify. */
export const VERIFY_SIGNALS = { executorLost: 'executorLost', placeChanged: 'placeChanged' } as const;
