import { describe, expect, test } from 'vitest';
import { digestOf } from '../../schemas/digest.ts';
import { checkDefinitionDigest, type CheckBinding, type CheckDefinition } from '../../schemas/gate/check.ts';
import { checkResultSchema } from '../../schemas/gate/evidence.schema.ts';
import type { ResolvedRequest } from '../../schemas/verify/request.ts';
import { VERIFY_STATUSES, type VerifyResult } from '../../schemas/verify/result.ts';
import { admissionOf, resolvedRequest, resultOf } from '../../test/support/task-fixtures.ts';
import { UNSATISFIED_REASONS } from '../verify/satisfies.ts';
import { answerOf, checkResultOf } from './check-result.ts';

const definition: CheckDefinition = {
  schema: 'portcullis/check-definition/v1',
  kind: 'command',
  template: 'node-test',
  argv: ['node', '--test'],
  cwd: 'repo',
  expectExitCode: 0,
  timeoutSecs: 60,
  artifacts: [],
};
const binding: CheckBinding = {
  tenant: 'local',
  checkId: 'tests',
  definitionDigest: checkDefinitionDigest(definition),
  head: 'a'.repeat(40),
  executionId: 'e1',
  executionGeneration: 1,
  attempt: 1,
};
const ELIGIBLE = { eligible: true, reasons: [] } as const;
const PRODUCER = { eligible: false, reasons: ['producer_attestation'] } as const;

function facts(over: Partial<VerifyResult> = {}, request: Partial<ResolvedRequest> = {}) {
  const view = { nextN: 1, nextSequence: 1, now: 1_000 };
  const { accepted } = admissionOf(resolvedRequest({ executor: 'verifier', ...request }), view);
  const result = resultOf(accepted, over.status ?? 'completed', {
    attestation: accepted.request.executor === 'verifier' ? 'verifier' : 'producer',
    gate_grade: ELIGIBLE,
    ...over,
  });
  return { binding, definition, accepted, result };
}

test('a satisfied verification is a passed check, with its counts, its output and who watched', () => {
  const tests = { executed: 2, passed: 2, failed: 0, skipped: 0, provenance: 'reporter_file' } as const;
  const check = checkResultOf(facts({ tests }));
  expect(check).toMatchObject({
    ...binding,
    status: 'passed',
    unavailable: null,
    attestation: 'verifier',
    counts: tests,
  });
  expect(check.refs.map(({ id }) => id)).toEqual(['result', 'stdout', 'stderr']);
  expect(checkResultSchema.parse(check)).toEqual(check);
});

test('a verification that had less time is of the same check; one that had more is not', () => {
  expect(checkResultOf(facts({}, { timeoutSecs: 5 })).status).toBe('passed');
  expect(() => checkResultOf(facts({}, { timeoutSecs: 61 }))).toThrow('timeout');
});

test('[inv-05] a producer’s word keeps its mark, whatever it says', () => {
  const green = checkResultOf(facts({ gate_grade: PRODUCER }, { executor: 'forge' }));
  expect(green).toMatchObject({ status: 'passed', attestation: 'producer' });
  const red = facts({ satisfied: false, reasons: ['exit_code'], gate_grade: PRODUCER }, { executor: 'forge' });
  expect(checkResultOf(red)).toMatchObject({ status: 'failed', attestation: 'producer' });
  const lying = facts({ attestation: 'verifier' }, { executor: 'forge' });
  expect(() => checkResultOf(lying)).toThrow(expect.objectContaining({ code: 'schema_invalid' }));
});

test.each(VERIFY_STATUSES.filter((status) => status !== 'completed'))(
  '[inv-07] %s neither passes nor fails, whatever else the result says',
  (status) => {
    const answer = answerOf({ status, satisfied: true, reasons: ['exit_code', 'tests_failed'], gate_grade: ELIGIBLE });
    expect(['passed', 'failed']).not.toContain(answer.status);
  },
);

test('[inv-08] a run that was refused before it began is no word about the tests, so that it can be run again', () => {
  const refused = { status: 'rejected', satisfied: false, reasons: ['limit'], gate_grade: ELIGIBLE } as const;
  expect(answerOf(refused)).toEqual({ status: 'inconclusive', unavailable: 'executor_unavailable' });
});

test.each(UNSATISFIED_REASONS)('[inv-02] completed with the reason %s never passes', (reason) => {
  for (const satisfied of [true, false]) {
    const answer = answerOf({ status: 'completed', satisfied, reasons: [reason], gate_grade: ELIGIBLE });
    expect(answer.status).not.toBe('passed');
    const failed = reason === 'exit_code' || reason === 'tests_failed';
    expect(answer.status === 'failed').toBe(failed);
  }
});

test('[inv-07] what another command, or one that a limit stopped, said is no failure of this check', () => {
  for (const reason of ['argv_differs', 'limit_exceeded', 'superseded']) {
    const reasons = [reason, 'exit_code'];
    expect(answerOf({ status: 'completed', satisfied: false, reasons, gate_grade: ELIGIBLE }).status).toBe(
      'inconclusive',
    );
  }
});

test('a result that no gate takes for another reason than its producer is inconclusive', () => {
  for (const reason of ['containment', 'worktree', 'no_answer'] as const) {
    const gate_grade = { eligible: false, reasons: ['producer_attestation', reason] } as const;
    expect(answerOf({ status: 'completed', satisfied: true, reasons: [], gate_grade }).status).toBe('inconclusive');
  }
});

describe('[inv-04] a verification of something else is refused', () => {
  const pinned = { headSha: 'a'.repeat(40), execution: 'e1', generation: 1 };
  test.each<[string, Partial<ResolvedRequest>]>([
    ['tenant', { tenant: 'other' }],
    ['argv', { argv: ['node', '--test', 'one.js'] }],
    ['cwd', { cwd: 'worktree' }],
    ['expect', { expect: { exitCode: 1, artifacts: [] } }],
    ['artifacts', { expect: { exitCode: 0, artifacts: ['a'] } }],
    ['timeout', { timeoutSecs: 61 }],
    ['head', { subject: { ...pinned, headSha: 'c'.repeat(40) } }],
    ['execution', { subject: { ...pinned, execution: 'e2' } }],
    ['generation', { subject: { ...pinned, generation: 2 } }],
  ])('%s', (path, request) => {
    expect(() => checkResultOf(facts({}, request))).toThrow(`${path} is not what the check tests is of`);
  });

  test('a result under the task of another', () => {
    expect(() => checkResultOf(facts({ task_id: 'another' }))).toThrow('task');
    expect(() => checkResultOf(facts({ request_digest: digestOf('request', 'x') }))).toThrow('request');
  });
});

test('counts that contradict themselves count nothing', () => {
  const tests = { executed: 1, passed: 5, failed: 0, skipped: 0, provenance: 'stdout' } as const;
  expect(checkResultOf(facts({ tests })).counts).toBeNull();
});

test('of more definition files than a record holds, the changed ones are kept', () => {
  const same = Array.from({ length: 300 }, (_, n) => ({ path: `f${n}`, base_digest: null, head_digest: null }));
  const changed = { path: 'package.json', base_digest: null, head_digest: digestOf('policy', 1) } as const;
  const check = checkResultOf(facts({ definitions: [...same, changed] }));
  expect(check.definitions).toHaveLength(256);
  expect(check.definitions).toContainEqual({ path: 'package.json', baseDigest: null, headDigest: changed.head_digest });
});

test('artifacts are cited by their bytes, whatever characters their paths have', () => {
  const artifacts = ['dist/ä b.js', 'dist/c.js'].map((path, n) => ({ path, sha256: digestOf('policy', n), bytes: 1 }));
  const { refs } = checkResultOf(facts({ artifacts }));
  expect(refs.slice(3).map(({ digest }) => digest)).toEqual(artifacts.map(({ sha256 }) => sha256));
  expect(checkResultSchema.parse(checkResultOf(facts({ artifacts }))).refs).toHaveLength(5);
});
