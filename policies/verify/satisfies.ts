/** Whether a run satisfies whoever asked (spec/delegated-verification.md section 1). What a gate demands is more. */
import type { CountRule } from '../../schemas/verify/action.ts';
import type { ExecutorReport, TestCounts } from '../../schemas/verify/report.ts';
import type { PinnedSubject, ResolvedRequest } from '../../schemas/verify/request.ts';
import type { VerifyStatus } from '../../schemas/verify/result.ts';

/** Why a result does not satisfy, in the order a reader wants them. */
export const UNSATISFIED_REASONS = [
  'not_completed',
  'containment',
  'argv_differs',
  'limit_exceeded',
  'exit_code',
  'not_tested',
  'too_few_tests',
  'tests_failed',
  'too_many_skipped',
  'output_lost',
  'missing_artifact',
  'tree_changed',
  'tree_unknown',
  'superseded',
] as const;
export type UnsatisfiedReason = (typeof UNSATISFIED_REASONS)[number];

export interface RunFacts {
  readonly status: VerifyStatus;
  readonly report: ExecutorReport | null;
  readonly request: ResolvedRequest;
  readonly counts: CountRule | null;
  /** What the signed action said to execute; `null` when no action was signed, and so none was dispatched. */
  readonly argvExecuted: readonly string[] | null;
  readonly treeBefore: string | null;
  /** What the pair stands at now; `null` when it is unknown, which counts as superseded. */
  readonly current: Pick<PinnedSubject, 'execution' | 'generation'> | null;
}

/** Every reason why these facts do not satisfy; empty means satisfied. Total: unknown is a reason, never a pass. */
export function unsatisfiedReasons(facts: RunFacts): readonly UnsatisfiedReason[] {
  const { report, request, status } = facts;
  const reasons = new Set<UnsatisfiedReason>();
  if (status !== 'completed' || report === null) reasons.add('not_completed');
  if (report !== null) {
    if (!isContained(report.sandbox)) reasons.add('containment');
    if (facts.argvExecuted !== null && !isSameArgv(facts.argvExecuted, report.argv_executed))
      reasons.add('argv_differs');
    if ((report.sandbox.exceeded?.length ?? 0) > 0) reasons.add('limit_exceeded');
    if (report.exit_code !== request.expect.exitCode) reasons.add('exit_code');
    if (facts.counts !== null) for (const reason of countReasons(facts.counts, report.tests)) reasons.add(reason);
    if (report.stdout.chunks_failed > 0 || report.stderr.chunks_failed > 0) reasons.add('output_lost');
    if (report.missing_artifacts.length > 0 || !allStated(request, report)) reasons.add('missing_artifact');
    // A live tree is no commit's: there is none that it could have changed from.
    if (request.cwd === 'repo')
      for (const reason of treeReasons(facts.treeBefore, report.tree_after)) reasons.add(reason);
  }
  const { current } = facts;
  if (
    current === null ||
    current.execution !== request.subject.execution ||
    current.generation !== request.subject.generation
  ) {
    reasons.add('superseded');
  }
  return UNSATISFIED_REASONS.filter((reason) => reasons.has(reason));
}

/** A weaker sandbox is a thing to report, never to accept: the command could reach what judges it. */
export function isContained({ containment, network }: ExecutorReport['sandbox']): boolean {
  return containment === 'bubblewrap' && network === 'none';
}

function treeReasons(before: string | null, after: string | null): readonly UnsatisfiedReason[] {
  if (before === null || after === null) return ['tree_unknown'];
  return before === after ? [] : ['tree_changed'];
}

/** The executor reports the argv as signed, not the path that its first word resolved to: all of it is compared. */
function isSameArgv(signed: readonly string[], reported: readonly string[]): boolean {
  return signed.length === reported.length && signed.every((argument, index) => argument === reported[index]);
}

function countReasons(rule: CountRule, tests: TestCounts | 'unknown' | null): readonly UnsatisfiedReason[] {
  if (tests === null || tests === 'unknown') return ['not_tested'];
  const reasons: UnsatisfiedReason[] = [];
  if (tests.executed === 0) reasons.push('not_tested');
  else if (tests.executed < rule.minExecuted) reasons.push('too_few_tests');
  if (tests.failed > 0) reasons.push('tests_failed');
  if (tests.skipped > rule.maxSkipped) reasons.push('too_many_skipped');
  return reasons;
}

function allStated(request: ResolvedRequest, report: ExecutorReport): boolean {
  const stated = new Set(report.artifacts.map(({ path }) => path));
  return request.expect.artifacts.every((path) => stated.has(path));
}
