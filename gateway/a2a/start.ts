/**
 * Starts the workflow of an accepted request, and starts it again when it is not known to have happened. The claim in the
 * store came first, so a start may be repeated by anybody, any number of times (spec/store.md, Rules).
 */
import { isGrpcServiceError, type WorkflowStartOptions } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { portcullisError } from '../../schemas/errors.ts';
import { controlQueue } from '../../schemas/queues.ts';
import type { AcceptedRequest } from '../../schemas/verify/request.ts';
import { verifyStartSight } from '../../schemas/verify/start.ts';
import { GATEWAY_WORKFLOWS, type VerifyInput } from '../../schemas/verify/workflow.ts';
import { shortened } from '../../schemas/text.ts';
import { parseVerifyWorkflowId } from '../../schemas/workflow-ids.ts';
import type { GatewayContext } from '../context.ts';

const START_DEADLINE_MS = 3_000;
const PROBE_DEADLINE_MS = 1_500;
/** A probe that Temporal answered is good for this long: it keeps "away" apart from "went away just now". */
const PROBE_FRESH_MS = 1_000;

/** How a start ended: it happened (now or before), it certainly did not, or nobody can tell. */
export type StartOutcome = 'started' | 'unknown' | { readonly refused: string };

/** gRPC codes by which the server says that it did not start anything. */
const CERTAIN_REFUSALS = new Set([3, 5, 7, 8, 9, 12, 16]);

export async function startVerify(ctx: GatewayContext, accepted: AcceptedRequest): Promise<StartOutcome> {
  try {
    await ctx.temporal.withDeadline(Date.now() + START_DEADLINE_MS, () =>
      ctx.temporal.workflow.start(GATEWAY_WORKFLOWS.verify, startOptions(accepted)),
    );
  } catch (thrown) {
    // It ran and ended already: started is what it was.
    if (!(thrown instanceof WorkflowExecutionAlreadyStartedError)) return outcomeOf(thrown);
  }
  return 'started';
}

function startOptions(accepted: AcceptedRequest): WorkflowStartOptions {
  const { request, workflowId } = accepted;
  const { n } = parseVerifyWorkflowId(workflowId);
  const input: VerifyInput = { accepted, n };
  const { searchAttributes, ...sight } = verifyStartSight(accepted);
  return {
    workflowId,
    taskQueue: controlQueue(request.tenant),
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    ...sight,
    typedSearchAttributes: searchAttributes,
  };
}

function outcomeOf(thrown: unknown): StartOutcome {
  const cause: unknown = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
  if (isGrpcServiceError(cause)) {
    if (CERTAIN_REFUSALS.has(cause.code)) return { refused: shortened(cause.details, 200) };
    return 'unknown';
  }
  // Not from the server at all: the options could not be encoded, so nothing was sent.
  return { refused: thrown instanceof Error ? shortened(thrown.message, 200) : 'the start could not be sent' };
}

const probedAt = new WeakMap<object, number>();

/** Whether Temporal answers, asked before anything is claimed. @throws `temporal_unavailable` */
export async function requireTemporal(ctx: GatewayContext): Promise<void> {
  const last = probedAt.get(ctx.temporal);
  if (last !== undefined && performance.now() - last < PROBE_FRESH_MS) return;
  try {
    await ctx.temporal.withDeadline(Date.now() + PROBE_DEADLINE_MS, () =>
      ctx.temporal.workflowService.getSystemInfo({}),
    );
  } catch (thrown) {
    throw portcullisError('temporal_unavailable', { reason: 'its frontend gives no answer' }, thrown);
  }
  probedAt.set(ctx.temporal, performance.now());
}

const SWEEP_AGE_MS = 5_000;
const SWEEP_LIMIT = 100;

/** Starts what was accepted more than 5 s ago and not confirmed since. @returns how many are settled now */
export async function sweepClaims(ctx: GatewayContext, olderThanMs: number = SWEEP_AGE_MS): Promise<number> {
  let settled = 0;
  for (const tenant of ctx.tenants) {
    for (const accepted of await ctx.store.unconfirmedClaims(tenant, olderThanMs, SWEEP_LIMIT)) {
      if (await settleStart(ctx, accepted)) settled += 1;
    }
  }
  return settled;
}

async function settleStart(ctx: GatewayContext, accepted: AcceptedRequest): Promise<boolean> {
  const outcome = await startVerify(ctx, accepted);
  if (outcome === 'unknown') return false;
  if (outcome === 'started') await ctx.store.confirmStarted(accepted);
  else {
    ctx.logger.warn({ taskId: accepted.taskId, reason: outcome.refused }, 'an accepted request cannot be started');
    // The messageId keeps naming this task: whoever sent it was told of it. Nothing is kept under the id given here.
    await ctx.store.releaseClaim(accepted, accepted.taskId);
  }
  return true;
}

/** Sweeps from now on. */
export function startSweeping(ctx: GatewayContext, everyMs = 2_000): { close(): void } {
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    sweepClaims(ctx)
      .catch((thrown: unknown) => ctx.logger.warn({ err: thrown }, 'accepted requests could not be swept'))
      .finally(() => (busy = false));
  }, everyMs);
  return { close: () => clearInterval(timer) };
}
