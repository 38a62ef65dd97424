/** Requests, results and audit entries that tests of the store and its users can admit and end. */
import { randomBytes } from 'node:crypto';
import type { Admission, ClaimView, Ending, GatewayStore } from '../../activities/store/port.ts';
import { auditDigest, type AuditEvent, type AuditHead, type SignedAuditEntry } from '../../schemas/audit.ts';
import { contentDigest, digestOf } from '../../schemas/digest.ts';
import { keysOf } from '../../schemas/keys.ts';
import type { ExecutorRole } from '../../schemas/names.ts';
import { requestDigest, type AcceptedRequest, type ResolvedRequest } from '../../schemas/verify/request.ts';
import { REUSABLE_STATUSES, type VerifyResult, type VerifyStatus } from '../../schemas/verify/result.ts';
import type { StreamSummary } from '../../schemas/verify/report.ts';
import type { TaskState } from '../../schemas/verify/task.ts';

/** A request as the gateway resolves it; `overrides` change what makes it another request. */
export function resolvedRequest(overrides: Partial<ResolvedRequest> = {}): ResolvedRequest {
  return {
    schema: 'portcullis/verify-request/v1',
    tenant: 'local',
    pair: 'T-1',
    kind: 'command',
    cwd: 'repo',
    argv: ['node', '--test'],
    timeoutSecs: 60,
    expect: { exitCode: 0, artifacts: [] },
    executor: 'forge' satisfies ExecutorRole,
    subject: { headSha: 'a'.repeat(40), execution: 'e1', generation: 1 },
    attempt: 1,
    ...overrides,
  };
}

/** The admission of a request where its claim stands. `taskId` follows from digest and n, as the gateway's does. */
export function admissionOf(request: ResolvedRequest, view: ClaimView, messageHash = randomHex()): Admission {
  const digest = requestDigest(request);
  const workflowId = `verify/${request.tenant}/${request.pair}/${digest.slice(7)}/${view.nextN}`;
  const taskId = contentDigest(new TextEncoder().encode(workflowId)).slice(7, 7 + 40);
  const accepted: AcceptedRequest = {
    schema: 'portcullis/accepted-request/v1',
    taskId,
    workflowId,
    requestDigest: digest,
    request,
    principal: 'credential-1',
    workspaceGeneration: 1,
    workspace: 'ws-1',
    sequence: view.nextSequence,
    policy: { id: 'default', revision: 1, digest: digestOf('policy', { id: 'default' }), template: 'node-test' },
    routing: { id: 'default', revision: 1, digest: digestOf('policy', { id: 'default' }) },
    acceptedAt: view.now,
  };
  return {
    accepted,
    snapshot: {
      schema: 'portcullis/task/v1',
      taskId,
      contextId: 'context-1',
      tenant: request.tenant,
      pair: request.pair,
      owner: { role: 'sentinel', principal: 'credential-1' },
      executor: { role: request.executor, workspaceGeneration: 1 },
      workflowId,
      requestDigest: digest,
      state: 'submitted',
      phase: 'accepted',
      detail: '',
      outcome: null,
      seq: 1,
      createdAt: view.now,
      updatedAt: view.now,
    },
    message: { hash: messageHash, bodyDigest: digest },
    n: view.nextN,
  };
}

/** Views the claim and admits; the admission as it was accepted. */
export async function admitted(store: GatewayStore, overrides: Partial<ResolvedRequest> = {}): Promise<Admission> {
  const request = resolvedRequest(overrides);
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const view = await store.viewClaim(request.tenant, request.pair, requestDigest(request));
    const admission = admissionOf(request, view);
    const outcome = await store.admit(admission);
    if (outcome.kind === 'accepted') return admission;
    if (outcome.kind !== 'moved') throw new Error(`Not admitted: ${JSON.stringify(outcome)}`);
  }
  throw new Error('The claim kept moving.');
}

/** Ends the admitted task with this status; `overrides` change the result. */
export function endingOf(
  { accepted, n }: Admission,
  status: VerifyStatus = 'completed',
  overrides: Partial<VerifyResult> = {},
): Ending {
  return {
    accepted,
    n,
    result: resultOf(accepted, status, overrides),
    event: { type: 'status', state: stateOf(status), phase: 'ended', detail: status, outcome: status },
    from: { source: 'control', offset: 1_000_000 },
    reuseSeconds: (REUSABLE_STATUSES as readonly string[]).includes(status) ? 600 : 0,
    audit: unsignedEntry(accepted.request.tenant, 'verify_ended', { task: accepted.taskId }),
  };
}

export function resultOf(
  accepted: AcceptedRequest,
  status: VerifyStatus,
  overrides: Partial<VerifyResult> = {},
): VerifyResult {
  const { taskId, request } = accepted;
  const keys = keysOf(request.tenant);
  const ran = status === 'completed';
  return {
    schema: 'portcullis/verify-result/v1',
    task_id: taskId,
    request_digest: accepted.requestDigest,
    status,
    attestation: 'producer',
    satisfied: ran,
    reasons: ran ? [] : [status],
    argv_requested: request.argv,
    argv_executed: ran ? request.argv : [],
    exit_code: ran ? 0 : null,
    signal: null,
    timed_out: status === 'timed_out',
    cancelled: status === 'cancelled',
    duration_ms: 12,
    observed_at: accepted.acceptedAt + 12,
    stdout_ref: keys.outputRef(taskId, 'stdout'),
    stderr_ref: keys.outputRef(taskId, 'stderr'),
    stdout: EMPTY_STREAM,
    stderr: EMPTY_STREAM,
    artifacts: [],
    executor: { role: request.executor, workspace: accepted.workspace, generation: accepted.workspaceGeneration },
    subject: {
      head_sha: request.subject.headSha,
      execution: request.subject.execution,
      generation: request.subject.generation,
      tree_before: null,
      tree_after: null,
    },
    definitions: [],
    tests: null,
    prepare: null,
    toolchain: null,
    policy: accepted.policy,
    routing: accepted.routing,
    gate_grade: { eligible: false, reasons: ['producer_attestation'] },
    sandbox: null,
    ...overrides,
  };
}

/** Makes an entry of the chain; the signature is not a real one, and the store does not look at it. */
export function unsignedEntry(tenant: string, event: AuditEvent, refs: Readonly<Record<string, string>>) {
  return (head: AuditHead): Promise<SignedAuditEntry> => {
    const entry = {
      schema: 'portcullis/audit/v1',
      tenant,
      n: head.n + 1,
      previous: head.digest,
      event,
      refs,
      at: 1,
      writer: 'control',
      keyId: 'test',
    } as const;
    return Promise.resolve({ entry, digest: auditDigest(entry), signature: 'none' });
  };
}

export function randomHex(): string {
  return randomBytes(16).toString('hex');
}

const NOTHING = contentDigest(new Uint8Array());
const EMPTY_STREAM: StreamSummary = {
  bytes: 0,
  stored: 0,
  truncated: false,
  stored_digest: NOTHING,
  full_digest: NOTHING,
  chunks: 0,
  chunks_failed: 0,
};

function stateOf(status: VerifyStatus): TaskState {
  if (status === 'completed' || status === 'timed_out') return 'completed';
  return status === 'cancelled' ? 'canceled' : 'failed';
}
