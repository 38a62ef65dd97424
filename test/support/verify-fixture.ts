/** A request, an action's worth of answers and a report, for tests of the verify workflow. Values are plausible, not real. */
import { contentDigest, digestOf } from '../../schemas/digest.ts';
import { verifyWorkflowId } from '../../schemas/workflow-ids.ts';
import type { PreparedRun } from '../../schemas/verify/activities.ts';
import type { ExecutorReport } from '../../schemas/verify/report.ts';
import { requestDigest, type AcceptedRequest, type ResolvedRequest } from '../../schemas/verify/request.ts';

const EMPTY = contentDigest(new Uint8Array());
const TREE = 'b'.repeat(40);

export function acceptedRequest(pair: string, change: Partial<ResolvedRequest> = {}): AcceptedRequest {
  const request: ResolvedRequest = {
    schema: 'portcullis/verify-request/v1',
    tenant: 'test',
    pair,
    kind: 'command',
    cwd: 'repo',
    argv: ['node', '--test'],
    timeoutSecs: 60,
    expect: { exitCode: 0, artifacts: [] },
    executor: 'verifier',
    subject: { headSha: 'a'.repeat(40), execution: 'e1', generation: 1 },
    attempt: 1,
    ...change,
  };
  const digest = requestDigest(request);
  return {
    schema: 'portcullis/accepted-request/v1',
    taskId: `task-${pair}`,
    workflowId: verifyWorkflowId({ tenant: request.tenant, pair, digest, n: 1 }),
    requestDigest: digest,
    request,
    principal: 'c-sentinel',
    workspaceGeneration: 1,
    workspace: 'verifier-1',
    sequence: 1,
    policy: { id: 'default', revision: 1, digest: digestOf('policy', {}), template: 'node-test' },
    routing: { id: 'default', revision: 1, digest: digestOf('policy', {}) },
    acceptedAt: 1_700_000_000_000,
  };
}

export function preparedRun(accepted: AcceptedRequest): PreparedRun {
  const { request } = accepted;
  const action: PreparedRun['signed']['action'] = {
    schema: 'portcullis/action/v1',
    tenant: request.tenant,
    pair: request.pair,
    taskId: accepted.taskId,
    requestDigest: accepted.requestDigest,
    policy: accepted.policy,
    cwd: request.cwd,
    argvRequested: request.argv,
    argvExecuted: request.argv,
    environment: { CI: 'true' },
    limits: {
      timeoutSecs: request.timeoutSecs,
      processes: 64,
      dataBytes: 1,
      memoryBytes: 1,
      fileBytes: 1,
      workBytes: 1,
      files: 1,
      openFiles: 64,
      tmpBytes: 1,
      outputBytes: 1,
    },
    artifacts: [],
    counts: { parser: 'node-test', minExecuted: 1, maxSkipped: 0 },
    prepare: null,
    subject: request.subject,
    executor: {
      role: request.executor,
      workspace: accepted.workspace,
      workspaceGeneration: accepted.workspaceGeneration,
    },
    notAfter: 1_800_000_000_000,
  };
  return {
    signed: { action, digest: digestOf('action', action), signature: 'unsigned in this test', keyId: 'test' },
    treeBefore: TREE,
    definitions: [{ path: 'package.json', base_digest: null, head_digest: EMPTY }],
  };
}

export function executorReport(change: Partial<ExecutorReport> = {}): ExecutorReport {
  const stream = {
    bytes: 0,
    stored: 0,
    truncated: false,
    stored_digest: EMPTY,
    full_digest: EMPTY,
    chunks: 0,
    chunks_failed: 0,
  };
  return {
    schema: 'portcullis/executor-report/v1',
    outcome: 'completed',
    reason: '',
    argv_executed: ['node', '--test'],
    exit_code: 0,
    signal: null,
    duration_ms: 12,
    stdout: stream,
    stderr: stream,
    artifacts: [],
    missing_artifacts: [],
    tree_after: TREE,
    tests: { executed: 3, passed: 3, failed: 0, skipped: 0, provenance: 'reporter_file' },
    prepare: null,
    toolchain: null,
    sandbox: { containment: 'bubblewrap', network: 'none', limits: {} },
    ...change,
  };
}
