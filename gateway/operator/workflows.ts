/** Runs a short workflow of the control plane and waits, within bounds, for what it returns. */
import {
  WorkflowFailedError,
  type WorkflowHandle,
  type WorkflowIdConflictPolicy,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { ApplicationFailure, TypedSearchAttributes, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { isErrorCode, portcullisError, type ErrorDetails, type PortcullisError } from '../../schemas/errors.ts';
import { controlQueue } from '../../schemas/queues.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import type { GatewayContext } from '../context.ts';
import { temporalFailure } from '../temporal.ts';

const START_DEADLINE_MS = 5_000;

export interface ControlWorkflow {
  readonly type: string;
  readonly workflowId: string;
  readonly tenant: string;
  readonly pair: string | null;
  readonly input: unknown;
  readonly summary: string;
  /** Milliseconds to wait for the result. It goes on when they are over. */
  readonly waitMs: number;
}

/**
 * @throws `state_conflict` while the same workflow runs already, `temporal_unavailable`, `waited_too_long`, and what the
 *   workflow failed with
 */
export async function runControlWorkflow<T>(ctx: GatewayContext, run: ControlWorkflow): Promise<T> {
  const handle = await start<T>(ctx, run);
  const waited = Symbol('waited');
  const timer = Promise.withResolvers<typeof waited>();
  const timeout = setTimeout(() => timer.resolve(waited), run.waitMs);
  try {
    const result = await Promise.race([handle.result(), timer.promise]);
    if (result === waited) {
      throw portcullisError('waited_too_long', { seconds: run.waitMs / 1000, what: `the workflow ${run.workflowId}` });
    }
    return result;
  } catch (thrown) {
    throw failureOf(thrown);
  } finally {
    clearTimeout(timeout);
  }
}

async function start<T>(ctx: GatewayContext, run: ControlWorkflow): Promise<WorkflowHandle<() => Promise<T>>> {
  const conflict: WorkflowIdConflictPolicy = 'FAIL';
  const options: WorkflowStartOptions = {
    workflowId: run.workflowId,
    taskQueue: controlQueue(run.tenant),
    args: [run.input],
    workflowIdConflictPolicy: conflict,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    staticSummary: run.summary.slice(0, 200),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.tenant, value: run.tenant },
      ...(run.pair === null ? [] : [{ key: SEARCH_ATTRIBUTES.pairId, value: run.pair }]),
      { key: SEARCH_ATTRIBUTES.waitingOn, value: 'control' },
    ]),
  };
  try {
    const started = await ctx.temporal.withDeadline(Date.now() + START_DEADLINE_MS, () =>
      ctx.temporal.workflow.start(run.type, options),
    );
    return ctx.temporal.workflow.getHandle<() => Promise<T>>(run.workflowId, started.firstExecutionRunId);
  } catch (thrown) {
    if (thrown instanceof WorkflowExecutionAlreadyStartedError) {
      throw portcullisError('state_conflict', { what: `The workflow ${run.workflowId} runs already, so its target` });
    }
    throw temporalFailure(thrown);
  }
}

/** The catalogue's error that an activity failed with, or what Temporal says. */
function failureOf(thrown: unknown): unknown {
  if (!(thrown instanceof WorkflowFailedError)) return temporalFailure(thrown);
  let cause: unknown = thrown.cause;
  for (let depth = 0; depth < 6 && cause instanceof Error; depth += 1) {
    const known = cause instanceof ApplicationFailure ? catalogueError(cause) : null;
    if (known !== null) return known;
    cause = cause.cause;
  }
  return thrown;
}

function catalogueError({ type, details }: ApplicationFailure): PortcullisError | null {
  if (typeof type !== 'string' || !isErrorCode(type)) return null;
  return portcullisError(type, detailsOf(details?.[0]));
}

/** Details crossed a process border: only plain values are taken. */
function detailsOf(value: unknown): ErrorDetails {
  const given: object = typeof value === 'object' && value !== null ? value : {};
  const entries = Object.entries(given).filter((entry): entry is [string, string | number | boolean] =>
    ['string', 'number', 'boolean'].includes(typeof entry[1]),
  );
  return Object.fromEntries(entries);
}
