/**
 * Admission: from what came over the wire to a task that is claimed in the store and started on Temporal. Nothing is
 * dispatched before everything has passed, and nothing is claimed that could not be started.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { AdmissionOutcome } from '../../activities/store/port.ts';
import { canonicalBytes } from '../../schemas/canonical.ts';
import { contentDigest, digestHex, type Digest } from '../../schemas/digest.ts';
import { portcullisError, PortcullisError } from '../../schemas/errors.ts';
import { requestDigest, type AcceptedRequest, type ResolvedRequest } from '../../schemas/verify/request.ts';
import type { WireRequest } from '../../schemas/verify/request.schema.ts';
import type { TaskSnapshot } from '../../schemas/verify/task.ts';
import { verifyWorkflowId } from '../../schemas/workflow-ids.ts';
import type { Principal } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { pairFor } from './authority.ts';
import { auditRefusal } from './refusal.ts';
import { makeRejectedTask, type RejectedTask } from './rejected.ts';
import { resolveRequest, type Resolved } from './resolve.ts';
import { requireTemporal, startVerify } from './start.ts';
import { contextIdOf, taskIdOf } from '../../activities/content/task-id.ts';
import { Turns } from './turns.ts';

/** At this fraction of the store's memory nothing new is admitted. */
const MEMORY_LIMIT = 0.8;
/** Other replicas claim for the same pair too; each claim that fails is one that somebody else has won. */
const CLAIM_ATTEMPTS = 32;
/** After a claim that somebody else won: up to so many milliseconds, so that replicas do not keep step. */
const CLAIM_PAUSE_MS = 10;

export interface Ask {
  readonly wire: WireRequest;
  readonly messageId: string;
}

export type Admitted =
  | { readonly kind: 'task'; readonly taskId: string }
  | { readonly kind: 'rejected'; readonly task: RejectedTask; readonly sentence: string };

/**
 * The task that answers this request: a new one, or the one that the same request already has. A well-formed request that
 * policy does not permit becomes a rejected task.
 * @throws `pair_mismatch`, `not_allowed` (a credential of another execution), `not_found` (a pair that is not open), `state_conflict`, `message_id_conflict`, `store_full`,
 *   `store_unavailable`, `temporal_unavailable`, `executor_unavailable` (no workspace of that role)
 */
export async function admit(ctx: GatewayContext, principal: Principal, ask: Ask): Promise<Admitted> {
  const { tenant } = principal;
  try {
    const pair = pairFor(principal, ask.wire.pair_id);
    const [killed, memoryUse] = await Promise.all([ctx.store.readKillSwitch(tenant), ctx.store.memoryUse()]);
    if (killed !== null) throw portcullisError('kill_switch', { reason: killed.reason });
    if (memoryUse >= MEMORY_LIMIT) throw portcullisError('store_full');
    const resolved = await resolveRequest(ctx, principal, pair, ask.wire);
    await requireTemporal(ctx);
    return { kind: 'task', taskId: await claim(ctx, principal, ask, resolved) };
  } catch (thrown) {
    if (!(thrown instanceof PortcullisError)) throw thrown;
    const audited = await auditRefusal(ctx, principal, ask.wire, thrown);
    if (audited !== 'rejected') throw thrown;
    const at = await ctx.store.now();
    const task = makeRejectedTask(ctx.keys.taskIdKey, tenant, { pair: ask.wire.pair_id, code: thrown.code, at });
    return { kind: 'rejected', task, sentence: `${thrown.message} ${thrown.mend}` };
  }
}

const claimTurns = new Turns();

async function claim(ctx: GatewayContext, principal: Principal, ask: Ask, resolved: Resolved): Promise<string> {
  const { tenant, pair } = resolved.request;
  const message = messageOf(principal, ask);
  const { accepted, outcome } = await claimTurns.take(`${ctx.replica}/${tenant}/${pair}`, () =>
    claimNext(ctx, principal, message, resolved),
  );
  switch (outcome.kind) {
    case 'accepted':
      await begin(ctx, accepted, message.hash);
      return outcome.taskId;
    case 'joined':
      if (outcome.state === 'accepted') await beginAgain(ctx, tenant, outcome.taskId);
      return outcome.taskId;
    case 'message_conflict':
      throw portcullisError('message_id_conflict');
    case 'kill_switch':
      throw portcullisError('kill_switch', { reason: outcome.reason });
  }
}

interface Claimed {
  readonly accepted: AcceptedRequest;
  readonly outcome: Exclude<AdmissionOutcome, { readonly kind: 'moved' }>;
}

/** Claims the next number of the pair, again when somebody else had it first. @throws `state_conflict` */
async function claimNext(
  ctx: GatewayContext,
  principal: Principal,
  message: Message,
  resolved: Resolved,
): Promise<Claimed> {
  const { request } = resolved;
  const digest = requestDigest(request);
  for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt += 1) {
    const view = await ctx.store.viewClaim(request.tenant, request.pair, digest);
    const accepted = acceptedAs(ctx, principal, resolved, digest, view);
    const snapshot = snapshotOf(ctx, principal, accepted);
    const outcome = await ctx.store.admit({ accepted, snapshot, message, n: view.nextN });
    if (outcome.kind !== 'moved') return { accepted, outcome };
    await delay(Math.random() * CLAIM_PAUSE_MS);
  }
  throw portcullisError('state_conflict', { what: 'The claim of this request' });
}

/** An unknown outcome leaves the claim: the request is accepted and durable, and the sweep starts it. */
async function begin(ctx: GatewayContext, accepted: AcceptedRequest, messageHash: string): Promise<void> {
  const outcome = await startVerify(ctx, accepted);
  if (outcome === 'started') await confirm(ctx, accepted);
  else if (outcome !== 'unknown') {
    await ctx.store.releaseClaim(accepted, messageHash);
    throw portcullisError('temporal_unavailable', { reason: outcome.refused });
  }
}

/** Whoever finds an accepted claim issues the same start: whoever made it may be gone. */
async function beginAgain(ctx: GatewayContext, tenant: string, taskId: string): Promise<void> {
  const accepted = await ctx.store.readRequest(tenant, taskId);
  if (accepted !== null && (await startVerify(ctx, accepted)) === 'started') await confirm(ctx, accepted);
}

/** A confirmation that is lost costs a sweep, not the request. */
async function confirm(ctx: GatewayContext, accepted: AcceptedRequest): Promise<void> {
  try {
    await ctx.store.confirmStarted(accepted);
  } catch (thrown) {
    ctx.logger.warn({ err: thrown, taskId: accepted.taskId }, 'a start could not be confirmed; the sweep will');
  }
}

function acceptedAs(
  ctx: GatewayContext,
  principal: Principal,
  { request, workspace, policy, routing }: Resolved,
  digest: Digest<'request'>,
  view: { readonly nextN: number; readonly nextSequence: number; readonly now: number },
): AcceptedRequest {
  const { tenant, pair } = request;
  const workflowId = verifyWorkflowId({ tenant, pair, digest, n: view.nextN });
  return {
    schema: 'portcullis/accepted-request/v1',
    taskId: taskIdOf(ctx.keys.taskIdKey, workflowId),
    workflowId,
    requestDigest: digest,
    request,
    principal: principal.id,
    workspaceGeneration: workspace.generation,
    workspace: workspace.name,
    sequence: view.nextSequence,
    policy,
    routing,
    acceptedAt: view.now,
  };
}

function snapshotOf(ctx: GatewayContext, principal: Principal, accepted: AcceptedRequest): TaskSnapshot {
  const { request }: { request: ResolvedRequest } = accepted;
  return {
    schema: 'portcullis/task/v1',
    taskId: accepted.taskId,
    contextId: contextIdOf(ctx.keys.taskIdKey, request.tenant, request.pair, request.subject.execution),
    tenant: request.tenant,
    pair: request.pair,
    owner: { role: principal.role, principal: principal.id },
    executor: { role: request.executor, workspaceGeneration: accepted.workspaceGeneration },
    workflowId: accepted.workflowId,
    requestDigest: accepted.requestDigest,
    state: 'submitted',
    phase: 'accepted',
    detail: 'Accepted; waits for the control worker.',
    outcome: null,
    seq: 0,
    createdAt: accepted.acceptedAt,
    updatedAt: accepted.acceptedAt,
  };
}

interface Message {
  readonly hash: string;
  readonly bodyDigest: string;
}

/** A messageId belongs to whoever sent it; what it came with is compared as it was sent, before anything is filled in. */
function messageOf(principal: Principal, { messageId, wire }: Ask): Message {
  const name = new TextEncoder().encode(`${principal.id}\0${messageId}`);
  return { hash: digestHex(contentDigest(name)), bodyDigest: contentDigest(canonicalBytes(wire)) };
}
