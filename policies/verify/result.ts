/** Makes the result of a run out of what is known about it. Pure: the same facts give the same bytes on every retry. */
import { keysOf } from '../../schemas/keys.ts';
import type { PreparedRun } from '../../schemas/verify/activities.ts';
import type { ExecutorReport, RunOutcome } from '../../schemas/verify/report.ts';
import type { AcceptedRequest, PinnedSubject } from '../../schemas/verify/request.ts';
import type { VerifyResult, VerifyStatus } from '../../schemas/verify/result.ts';
import { attestationOf, gateGrade } from './gate-grade.ts';
import { unsatisfiedReasons } from './satisfies.ts';

/** How a run ended: with a report, or without one and why. */
export interface RunEnd {
  readonly status: VerifyStatus;
  readonly report: ExecutorReport | null;
  /** Code and sentence when there is no ordinary report; empty otherwise. */
  readonly reason: string;
}

export interface ResultFacts {
  readonly accepted: AcceptedRequest;
  /** `null` when the run ended before it was prepared. */
  readonly prepared: PreparedRun | null;
  readonly end: RunEnd;
  readonly current: Pick<PinnedSubject, 'execution' | 'generation'> | null;
  /** Milliseconds since the epoch, by the workflow's clock. */
  readonly observedAt: number;
}

/** The status that a report's outcome stands for. Closed: a new outcome breaks the build here. */
export function statusOfOutcome(outcome: RunOutcome): VerifyStatus {
  switch (outcome) {
    case 'completed':
    case 'timed_out':
    case 'cancelled':
    case 'failed_to_start':
    case 'prepare_failed':
    case 'rejected':
      return outcome;
  }
}

export function verifyResult({ accepted, prepared, end, current, observedAt }: ResultFacts): VerifyResult {
  const { request, taskId } = accepted;
  const { report, status } = end;
  const keys = keysOf(request.tenant);
  const action = prepared?.signed.action ?? null;
  const reasons = unsatisfiedReasons({
    status,
    report,
    request,
    counts: action?.counts ?? null,
    argvExecuted: action?.argvExecuted ?? null,
    treeBefore: prepared?.treeBefore ?? null,
    current,
  });
  return {
    schema: 'portcullis/verify-result/v1',
    task_id: taskId,
    request_digest: accepted.requestDigest,
    status,
    attestation: attestationOf(request),
    satisfied: reasons.length === 0,
    reasons: end.reason === '' ? reasons : [...reasons, end.reason],
    argv_requested: request.argv,
    argv_executed: report?.argv_executed ?? [],
    exit_code: report?.exit_code ?? null,
    signal: report?.signal ?? null,
    timed_out: status === 'timed_out',
    cancelled: status === 'cancelled',
    duration_ms: report?.duration_ms ?? 0,
    observed_at: observedAt,
    stdout_ref: keys.outputRef(taskId, 'stdout'),
    stderr_ref: keys.outputRef(taskId, 'stderr'),
    stdout: report?.stdout ?? null,
    stderr: report?.stderr ?? null,
    artifacts: report?.artifacts ?? [],
    executor: { role: request.executor, workspace: accepted.workspace, generation: accepted.workspaceGeneration },
    subject: {
      head_sha: request.subject.headSha,
      execution: request.subject.execution,
      generation: request.subject.generation,
      tree_before: prepared?.treeBefore ?? null,
      tree_after: report?.tree_after ?? null,
    },
    definitions: prepared?.definitions ?? [],
    tests: report === null ? 'unknown' : report.tests,
    prepare: report?.prepare ?? null,
    toolchain: report?.toolchain ?? null,
    policy: accepted.policy,
    routing: accepted.routing,
    gate_grade: gateGrade({ request, status, report }),
    sandbox: report?.sandbox ?? null,
  };
}
