/** The task as the store keeps it: one folded snapshot and a numbered log of events. */
import type { Digest } from '../digest.ts';
import type { OutputStream } from '../keys.ts';
import type { ExecutorRole } from '../names.ts';
import type { VerifyStatus } from './result.ts';

/** Where a task is. The last three are terminal and absorbing. */
export const TASK_STATES = ['submitted', 'working', 'completed', 'failed', 'canceled'] as const;
export type TaskState = (typeof TASK_STATES)[number];

export function isTerminalTaskState(state: TaskState): boolean {
  return state === 'completed' || state === 'failed' || state === 'canceled';
}

/** What a working task is doing, in words an operator can act on. */
export const TASK_PHASES = ['accepted', 'queued', 'running', 'persisting', 'completed_unpersisted', 'ended'] as const;
export type TaskPhase = (typeof TASK_PHASES)[number];

export interface TaskSnapshot {
  readonly schema: 'portcullis/task/v1';
  readonly taskId: string;
  readonly contextId: string;
  readonly tenant: string;
  readonly pair: string;
  /** Role and credential id of whoever asked. */
  readonly owner: { readonly role: string; readonly principal: string };
  readonly executor: { readonly role: ExecutorRole; readonly workspaceGeneration: number };
  readonly workflowId: string;
  readonly requestDigest: Digest<'request'>;
  readonly state: TaskState;
  readonly phase: TaskPhase;
  /** What it waits for, or why it ended. */
  readonly detail: string;
  readonly outcome: VerifyStatus | null;
  /** Number of the last event that is folded in. */
  readonly seq: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One event of a task. `seq` is +1 for each; `source` and `offset` make a repeated append one event. */
export type TaskEvent =
  | {
      readonly type: 'status';
      readonly state: TaskState;
      readonly phase: TaskPhase;
      readonly detail: string;
      readonly outcome: VerifyStatus | null;
    }
  | {
      readonly type: 'output';
      readonly stream: OutputStream;
      /** Index of the stored chunk. */
      readonly chunk: number;
      readonly bytes: number;
    };

export interface NumberedTaskEvent {
  readonly seq: number;
  /** Milliseconds, by the store's clock. */
  readonly at: number;
  readonly event: TaskEvent;
}
