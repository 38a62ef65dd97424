/**
 * Admission of a ticket's own checks: the same script as the gateway's, asked by the control plane, for the pair's `verifier`.
 * Nothing is dispatched before the request is durable (spec/delegated-verification.md section 2).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { evaluateCommand } from '../../policies/commands/evaluate.ts';
import { checkTimeout } from '../../policies/tickets/checks.ts';
import { canonicalBytes } from '../../schemas/canonical.ts';
import { contentDigest, digestHex, type Digest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { PairRoles } from '../../schemas/pair.ts';
import type { AdmittedCheck, CheckAdmission } from '../../schemas/verification/activities.ts';
import {
  requestDigest,
  type AcceptedRequest,
  type PolicyRef,
  type ResolvedRequest,
} from '../../schemas/verify/request.ts';
import { isTerminalTaskState, type TaskSnapshot } from '../../schemas/verify/task.ts';
import { parseVerifyWorkflowId, verifyWorkflowId } from '../../schemas/workflow-ids.ts';
import { contextIdOf, taskIdOf } from '../content/task-id.ts';
import { admit, viewClaim } from '../store/claims.ts';
import type { AdmissionOutcome, ClaimView } from '../store/port.ts';
import type { VerificationDependencies } from './dependencies.ts';

const CLAIM_ATTEMPTS = 32;
const CLAIM_PAUSE_MS = 10;

/** @throws `kill_switch`, `not_found`, `executor_unavailable`, and the codes of the command policy */
export async function admitCheck(needs: VerificationDependencies, check: CheckAdmission): Promise<AdmittedCheck> {
  const { tenant, ticket } = check.parameters;
  const roles = await needs.store.readRoles(tenant, ticket);
  if (roles === null) throw portcullisError('not_found', { what: 'pair', id: ticket });
  const request = requestOf(check);
  const policy = ruled(needs, request);
  const workspace = workspaceOf(roles);
  const digest = requestDigest(request);
  for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt += 1) {
    const view = await viewClaim(needs.connection, tenant, ticket, digest);
    const accepted = acceptedAs(needs, check, { request, policy, workspace, digest }, view);
    const outcome = await admit(needs.connection, {
      accepted,
      snapshot: snapshotOf(needs, accepted),
      message: messageOf(check, request),
      n: view.nextN,
    });
    if (outcome.kind !== 'moved') return await answered(needs, accepted, outcome);
    await delay(Math.random() * CLAIM_PAUSE_MS);
  }
  throw portcullisError('store_unavailable', { reason: 'the claim of this check moves too fast' });
}

/** Resolves when the task has ended with a result that is kept. */
export async function awaitTask(
  { store }: VerificationDependencies,
  { tenant, taskId }: { readonly tenant: string; readonly taskId: string },
  look: { readonly alive: () => void; readonly cancellation: AbortSignal },
): Promise<void> {
  for (;;) {
    look.alive();
    const task = await store.readTask(tenant, taskId);
    if (task === null) throw portcullisError('not_found', { what: 'task', id: taskId });
    if (isTerminalTaskState(task.state)) return;
    await delay(500, undefined, { signal: look.cancellation });
  }
}

async function answered(
  needs: VerificationDependencies,
  accepted: AcceptedRequest,
  outcome: Exclude<AdmissionOutcome, { readonly kind: 'moved' }>,
): Promise<AdmittedCheck> {
  switch (outcome.kind) {
    case 'accepted':
      return runOf(accepted);
    case 'joined': {
      // An earlier try of this step claimed it. Whoever finds it not started starts it.
      const known = await needs.store.readRequest(accepted.request.tenant, outcome.taskId);
      return known !== null && outcome.state === 'accepted' ? runOf(known) : { kind: 'joined', taskId: outcome.taskId };
    }
    case 'message_conflict':
      throw portcullisError('state_conflict', { what: 'The request of this check' });
    case 'kill_switch':
      throw portcullisError('kill_switch', { reason: outcome.reason });
  }
}

function runOf(accepted: AcceptedRequest): AdmittedCheck {
  const { n } = parseVerifyWorkflowId(accepted.workflowId);
  return { kind: 'run', workflowId: accepted.workflowId, input: { accepted, n } };
}

/** What is claimed for one attempt, with no more time than the ticket gives its check. @throws `schema_invalid` for a builtin */
export function requestOf({ parameters, definition, attempt }: CheckAdmission): ResolvedRequest {
  if (definition.kind !== 'command') throw portcullisError('schema_invalid', { path: 'check', reason: 'runs nothing' });
  const { tenant, ticket, change, execution } = parameters;
  return {
    schema: 'portcullis/verify-request/v1',
    tenant,
    pair: ticket,
    kind: 'command',
    cwd: definition.cwd,
    argv: definition.argv,
    timeoutSecs: checkTimeout(parameters.definition.checks, definition),
    expect: { exitCode: definition.expectExitCode, artifacts: definition.artifacts },
    executor: 'verifier',
    subject: { headSha: change.head, execution: execution.id, generation: execution.generation },
    attempt,
  };
}

function ruled({ commandPolicy }: VerificationDependencies, request: ResolvedRequest): PolicyRef {
  const { policy, digest } = commandPolicy;
  const ruling = evaluateCommand(policy, {
    argv: request.argv,
    cwd: request.cwd,
    timeoutSecs: request.timeoutSecs,
    expectExitCode: request.expect.exitCode,
    artifacts: request.expect.artifacts,
  });
  if (ruling.allowed) return { id: policy.id, revision: policy.revision, digest, template: ruling.template };
  // Each code's sentence names its detail differently; the spare ones fill nothing.
  throw portcullisError(ruling.reason, {
    reason: ruling.detail,
    tool: ruling.detail,
    slot: 'an argument',
    code: request.expect.exitCode,
  });
}

function workspaceOf({ workspaces }: PairRoles): { readonly name: string; readonly generation: number } {
  const workspace = workspaces.verifier;
  if (workspace !== undefined) return workspace;
  throw portcullisError('executor_unavailable', { reason: 'the pair has no workspace of role verifier' });
}

interface Parts {
  readonly request: ResolvedRequest;
  readonly policy: PolicyRef;
  readonly workspace: { readonly name: string; readonly generation: number };
  readonly digest: Digest<'request'>;
}

function acceptedAs(
  { taskIdKey }: VerificationDependencies,
  { askedBy }: CheckAdmission,
  { request, policy, workspace, digest }: Parts,
  view: ClaimView,
): AcceptedRequest {
  const { tenant, pair } = request;
  const workflowId = verifyWorkflowId({ tenant, pair, digest, n: view.nextN });
  return {
    schema: 'portcullis/accepted-request/v1',
    taskId: taskIdOf(taskIdKey, workflowId),
    workflowId,
    requestDigest: digest,
    request,
    principal: askedBy,
    workspaceGeneration: workspace.generation,
    workspace: workspace.name,
    sequence: view.nextSequence,
    policy,
    routing: null,
    acceptedAt: view.now,
  };
}

function snapshotOf({ taskIdKey }: VerificationDependencies, accepted: AcceptedRequest): TaskSnapshot {
  const { request } = accepted;
  return {
    schema: 'portcullis/task/v1',
    taskId: accepted.taskId,
    contextId: contextIdOf(taskIdKey, request.tenant, request.pair, request.subject.execution),
    tenant: request.tenant,
    pair: request.pair,
    owner: { role: 'control', principal: accepted.principal },
    executor: { role: request.executor, workspaceGeneration: accepted.workspaceGeneration },
    workflowId: accepted.workflowId,
    requestDigest: accepted.requestDigest,
    state: 'submitted',
    phase: 'accepted',
    detail: 'Accepted; its verification starts it.',
    outcome: null,
    seq: 0,
    createdAt: accepted.acceptedAt,
    updatedAt: accepted.acceptedAt,
  };
}

/** One message for each attempt of a check: a repeated step is answered with the same task. */
function messageOf({ askedBy, checkId, attempt }: CheckAdmission, request: ResolvedRequest) {
  const name = new TextEncoder().encode(`${askedBy}\0${checkId}\0${attempt}`);
  return { hash: digestHex(contentDigest(name)), bodyDigest: contentDigest(canonicalBytes(request)) };
}
