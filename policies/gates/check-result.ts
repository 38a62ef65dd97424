/**
 * From a persisted verification to the evidence it is: whose word it was, whether it judged, and why not otherwise. A timeout, a
 * loss or an unreadable answer says nothing about the work (invariant 7); what the producer's own executor says keeps its mark,
 * so that it can fail a check and never satisfy one (invariant 5).
 */
import { contentDigest, digestOf } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { CheckBinding, CheckDefinition, CheckResult } from '../../schemas/gate/check.ts';
import { LIST_LIMIT } from '../../schemas/gate/fields.schema.ts';
import type { EvidenceRef } from '../../schemas/gate/references.ts';
import type { CriterionStatus, UnavailableReason } from '../../schemas/gate/vocabulary.ts';
import type { TestCounts } from '../../schemas/verify/report.ts';
import { requestDigest, type AcceptedRequest } from '../../schemas/verify/request.ts';
import type { VerifyResult } from '../../schemas/verify/result.ts';
import type { UnsatisfiedReason } from '../verify/satisfies.ts';

export interface CheckFacts {
  readonly binding: CheckBinding;
  readonly definition: CheckDefinition;
  /** Both as they are persisted: an unpersisted result satisfies nothing. */
  readonly accepted: AcceptedRequest;
  readonly result: VerifyResult;
}

/** @throws `schema_invalid` when the verification is not of this definition, head and execution */
export function checkResultOf({ binding, definition, accepted, result }: CheckFacts): CheckResult {
  const foreign = foreignPart(binding, definition, accepted, result);
  if (foreign !== null) {
    throw portcullisError('schema_invalid', {
      path: foreign,
      reason: `is not what the check ${binding.checkId} is of`,
    });
  }
  const counts = countsOf(result.tests);
  return {
    schema: 'portcullis/check-result/v1',
    ...binding,
    ...answerOf(result),
    counts,
    refs: refsOf(result),
    attestation: result.attestation,
    observedAt: result.observed_at,
    executor: result.executor,
    toolchain: result.toolchain?.digest ?? null,
    definitions: definitionsOf(result),
  };
}

export interface CheckAnswer {
  readonly status: CriterionStatus;
  readonly unavailable: UnavailableReason | null;
}

const judged = (status: CriterionStatus): CheckAnswer => ({ status, unavailable: null });
const unavailable = (reason: UnavailableReason): CheckAnswer => ({ status: 'inconclusive', unavailable: reason });

type Said = Pick<VerifyResult, 'status' | 'satisfied' | 'reasons' | 'gate_grade'>;

/** What a verification says about the work, by its typed status and reasons alone. */
export function answerOf(result: Said): CheckAnswer {
  switch (result.status) {
    case 'completed':
      return answerOfCompleted(result);
    case 'timed_out':
      return unavailable('timeout');
    case 'cancelled':
      return unavailable('cancelled');
    case 'executor_unavailable':
    case 'executor_lost':
    case 'prepare_failed':
    case 'failed_to_start':
    case 'rejected':
      // Nothing of it says anything about the work; a refused run is past its deadline, signed by a key of before, of another policy.
      return unavailable('executor_unavailable');
  }
}

const FAILED = ['exit_code', 'tests_failed'] as const satisfies readonly UnsatisfiedReason[];
const UNTESTED = ['not_tested', 'too_few_tests', 'too_many_skipped'] as const satisfies readonly UnsatisfiedReason[];

function answerOfCompleted({ satisfied, reasons, gate_grade }: Said): CheckAnswer {
  const has = (names: readonly string[]) => reasons.some((reason) => names.includes(reason));
  // Whose word it was stays with the record; anything else that no gate takes is no answer.
  const weak = gate_grade.reasons.some((reason) => reason !== 'producer_attestation');
  if (satisfied && reasons.length === 0) return judged(weak ? 'inconclusive' : 'passed');
  if (has(['superseded'])) return unavailable('subject_superseded');
  // Something else ran, or it was stopped by a limit of ours: what it said is not about this check.
  if (has(['argv_differs', 'limit_exceeded'])) return judged('inconclusive');
  if (has(FAILED)) return judged('failed');
  if (has(UNTESTED)) return judged('not_tested');
  return judged('inconclusive');
}

/** The first thing that differs from what the check is bound to. */
function foreignPart(
  binding: CheckBinding,
  definition: CheckDefinition,
  { request, taskId, requestDigest: accepted, policy }: AcceptedRequest,
  result: VerifyResult,
): string | null {
  if (definition.kind !== 'command') return 'definition';
  const same: readonly (readonly [string, boolean])[] = [
    ['tenant', request.tenant === binding.tenant],
    ['task', result.task_id === taskId],
    ['request', requestDigest(request) === accepted && result.request_digest === accepted],
    ['template', policy.template === definition.template],
    ['argv', isSameList(request.argv, definition.argv) && isSameList(result.argv_requested, definition.argv)],
    ['cwd', request.cwd === definition.cwd],
    ['expect', request.expect.exitCode === definition.expectExitCode],
    ['artifacts', isSameList(request.expect.artifacts, definition.artifacts)],
    // A ticket may give it less: what then had no time to answer is no answer. Never more.
    ['timeout', request.timeoutSecs <= definition.timeoutSecs],
    ['head', request.subject.headSha === binding.head && result.subject.head_sha === binding.head],
    ['execution', request.subject.execution === binding.executionId],
    ['generation', request.subject.generation === binding.executionGeneration],
    ['execution', result.subject.execution === binding.executionId],
    ['generation', result.subject.generation === binding.executionGeneration],
    ['executor', result.attestation === (request.executor === 'verifier' ? 'verifier' : 'producer')],
  ];
  return same.find(([, holds]) => !holds)?.[0] ?? null;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((member, index) => member === b[index]);
}

/** Counts that contradict themselves count nothing. */
function countsOf(tests: TestCounts | 'unknown' | null): CheckResult['counts'] {
  if (tests === null || tests === 'unknown') return null;
  const { executed, passed, failed, skipped, provenance } = tests;
  return passed + failed <= executed ? { executed, passed, failed, skipped, provenance } : null;
}

function refsOf(result: VerifyResult): readonly EvidenceRef[] {
  const { stdout, stderr, artifacts } = result;
  const refs: EvidenceRef[] = [{ id: 'result', digest: digestOf('evidence', result) }];
  if (stdout !== null) refs.push({ id: 'stdout', digest: stdout.stored_digest });
  if (stderr !== null) refs.push({ id: 'stderr', digest: stderr.stored_digest });
  // A path can hold what an id cannot.
  const named = new Map(
    artifacts.map(({ path, sha256 }): [string, EvidenceRef] => {
      const hash = contentDigest(new TextEncoder().encode(path)).slice('sha256:'.length, 'sha256:'.length + 16);
      return [path, { id: `artifact/${hash}`, digest: sha256 }];
    }),
  );
  return [...refs, ...[...named.values()].slice(0, LIST_LIMIT - refs.length)];
}

/** A list is bounded; a changed file is never what is left out. */
function definitionsOf({ definitions }: VerifyResult): CheckResult['definitions'] {
  const files = definitions.map(({ path, base_digest, head_digest }) => ({
    path,
    baseDigest: base_digest,
    headDigest: head_digest,
  }));
  const changed = files.filter((file) => file.baseDigest !== file.headDigest);
  const same = files.filter((file) => file.baseDigest === file.headDigest);
  return [...changed, ...same].slice(0, LIST_LIMIT);
}
