import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentDigest, digestOf } from '../../schemas/digest.ts';
import type { ExecutorReport } from '../../schemas/verify/report.ts';
import type { ResolvedRequest } from '../../schemas/verify/request.ts';
import { VERIFY_STATUSES } from '../../schemas/verify/result.ts';
import { isTerminalTaskState } from '../../schemas/verify/task.ts';
import { statusOfOutcome, verifyResult } from './result.ts';
import { unsatisfiedReasons, type RunFacts, type UnsatisfiedReason } from './satisfies.ts';
import { reuseSeconds, taskStateOf } from './task-state.ts';

const request: ResolvedRequest = {
  schema: 'portcullis/verify-request/v1',
  tenant: 'local',
  pair: 'local-1',
  kind: 'command',
  cwd: 'repo',
  argv: ['node', '--test'],
  timeoutSecs: 60,
  expect: { exitCode: 0, artifacts: ['out.txt'] },
  executor: 'verifier',
  subject: { headSha: 'a'.repeat(40), execution: 'e1', generation: 1 },
  attempt: 1,
};
const stream = {
  bytes: 1,
  stored: 1,
  truncated: false,
  stored_digest: contentDigest(new Uint8Array()),
  full_digest: contentDigest(new Uint8Array()),
  chunks: 1,
  chunks_failed: 0,
};
const report: ExecutorReport = {
  schema: 'portcullis/executor-report/v1',
  outcome: 'completed',
  reason: '',
  argv_executed: ['node', '--test'],
  exit_code: 0,
  signal: null,
  duration_ms: 5,
  stdout: stream,
  stderr: stream,
  artifacts: [{ path: 'out.txt', sha256: contentDigest(new Uint8Array()), bytes: 0 }],
  missing_artifacts: [],
  tree_after: 'tree',
  tests: { executed: 2, passed: 2, failed: 0, skipped: 0, provenance: 'reporter_file' },
  toolchain: null,
  prepare: null,
  sandbox: { containment: 'bubblewrap', network: 'none', limits: {} },
};
const good: RunFacts = {
  status: 'completed',
  report,
  request,
  counts: { parser: 'node-test', minExecuted: 1, maxSkipped: 0 },
  argvExecuted: ['node', '--test'],
  treeBefore: 'tree',
  current: { execution: 'e1', generation: 1 },
};

test('a completed run with tests, the expected exit code and an unchanged tree satisfies', () => {
  expect(unsatisfiedReasons(good)).toEqual([]);
});

const counts = (executed: number, passed: number, failed: number, skipped: number) =>
  ({ executed, passed, failed, skipped, provenance: 'stdout' }) as const;
const with_ = (change: Partial<ExecutorReport>): Partial<RunFacts> => ({ report: { ...report, ...change } });

test.each<[string, Partial<RunFacts>, readonly UnsatisfiedReason[]]>([
  ['a time-out, whatever the exit code says', { status: 'timed_out' }, ['not_completed']],
  ['a cancelled run', { status: 'cancelled' }, ['not_completed']],
  ['a lost executor', { status: 'executor_lost', report: null }, ['not_completed']],
  [
    'containment by process group only',
    with_({ sandbox: { ...report.sandbox, containment: 'process-group' } }),
    ['containment'],
  ],
  [
    'a sandbox with the network of its host',
    with_({ sandbox: { ...report.sandbox, network: 'host' } }),
    ['containment'],
  ],
  ['another argument than signed', with_({ argv_executed: ['node', '--version'] }), ['argv_differs']],
  ['another program than signed', with_({ argv_executed: ['/tmp/node', '--test'] }), ['argv_differs']],
  ['an argument less than signed', with_({ argv_executed: ['node'] }), ['argv_differs']],
  ['an argument more than signed', with_({ argv_executed: ['node', '--test', 'a.js'] }), ['argv_differs']],
  [
    'a limit that was crossed, whatever the exit code',
    with_({ sandbox: { ...report.sandbox, exceeded: ['memoryBytes'] } }),
    ['limit_exceeded'],
  ],
  ['another exit code', with_({ exit_code: 1 }), ['exit_code']],
  ['a signal', with_({ exit_code: null, signal: 'SIGKILL' }), ['exit_code']],
  ['exit 0 with counts that cannot be read', with_({ tests: 'unknown' }), ['not_tested']],
  ['exit 0 without counts', with_({ tests: null }), ['not_tested']],
  ['exit 0 with no test executed', with_({ tests: counts(0, 0, 0, 0) }), ['not_tested']],
  ['all skipped', with_({ tests: counts(0, 0, 0, 4) }), ['not_tested', 'too_many_skipped']],
  ['exit 0 with a failed test', with_({ tests: counts(2, 1, 1, 0) }), ['tests_failed']],
  ['a lost chunk of output', with_({ stderr: { ...stream, chunks_failed: 1 } }), ['output_lost']],
  ['an artifact that is not there', with_({ artifacts: [], missing_artifacts: ['out.txt'] }), ['missing_artifact']],
  ['an artifact that is not mentioned', with_({ artifacts: [] }), ['missing_artifact']],
  ['tracked files that changed', with_({ tree_after: 'other' }), ['tree_changed']],
  ['tracked files that were not looked at', with_({ tree_after: null }), ['tree_unknown']],
  ['a pair that moved on', { current: { execution: 'e1', generation: 2 } }, ['superseded']],
  ['a pair that cannot be read', { current: null }, ['superseded']],
])('[inv-07] %s does not satisfy', (_, change, reasons) => {
  expect(unsatisfiedReasons({ ...good, ...change })).toEqual(reasons);
});

test('a run without a signed action has no argv to differ from', () => {
  expect(unsatisfiedReasons({ ...good, argvExecuted: null, treeBefore: null })).toEqual(['tree_unknown']);
});

test('a template without tests needs no counts', () => {
  expect(unsatisfiedReasons({ ...good, counts: null, ...with_({ tests: null }) })).toEqual([]);
});

test('[inv-07] no status but completed ever satisfies, and infrastructure outcomes are neither reused nor an answer', () => {
  for (const status of VERIFY_STATUSES) {
    expect(unsatisfiedReasons({ ...good, status }).length === 0).toBe(status === 'completed');
    expect(isTerminalTaskState(taskStateOf(status))).toBe(true);
    const answers = status === 'completed' || status === 'timed_out';
    expect(taskStateOf(status) === 'completed').toBe(answers);
    expect(reuseSeconds(status, 600, 'repo')).toBe(answers ? 600 : 0);
    expect(reuseSeconds(status, 600, 'worktree')).toBe(0);
  }
});

test('[inv-02] taking something away from a run that does not satisfy never makes it satisfy', () => {
  const part = fc.record({
    exit_code: fc.constantFrom(0, 1, null),
    tests: fc.constantFrom(report.tests, 'unknown' as const, null, counts(0, 0, 0, 1), counts(3, 2, 1, 0)),
    tree_after: fc.constantFrom('tree', 'other', null),
    artifacts: fc.constantFrom(report.artifacts, []),
  });
  fc.assert(
    fc.property(part, (change) => {
      const facts = { ...good, ...with_(change) };
      if (unsatisfiedReasons(facts).length === 0) return;
      for (const less of [
        { ...facts, report: null },
        { ...facts, current: null },
        { ...facts, treeBefore: null },
      ]) {
        expect(unsatisfiedReasons(less).length).toBeGreaterThan(0);
      }
    }),
  );
});

test('a result keeps the reason of a run that never ran, and says nothing it does not know', () => {
  const accepted = {
    schema: 'portcullis/accepted-request/v1',
    taskId: 't1',
    workflowId: 'w',
    requestDigest: digestOf('request', request),
    request,
    principal: 'c1',
    workspaceGeneration: 1,
    workspace: 'verifier-1',
    sequence: 1,
    policy: { id: 'default', revision: 1, digest: digestOf('policy', {}), template: 'node-test' },
    routing: null,
    acceptedAt: 1,
  } as const;
  const end = { status: statusOfOutcome('failed_to_start'), report: null, reason: 'sandbox_unavailable' };
  const result = verifyResult({ accepted, prepared: null, end, current: null, observedAt: 9 });
  expect(result).toMatchObject({ satisfied: false, exit_code: null, stdout: null, tests: 'unknown', observed_at: 9 });
  expect(result.reasons).toEqual(['not_completed', 'superseded', 'sandbox_unavailable']);
});
