import { expect, test } from 'vitest';
import { acceptedRequest, executorReport, preparedRun } from '../../test/support/verify-fixture.ts';
import type { ResolvedRequest } from '../../schemas/verify/request.ts';
import type { GateGradeReason } from '../../schemas/verify/result.ts';
import type { ExecutorReport } from '../../schemas/verify/report.ts';
import { verifyResult, type RunEnd } from './result.ts';

function resultOf(change: Partial<ResolvedRequest>, report: Partial<ExecutorReport> = {}, end: Partial<RunEnd> = {}) {
  const accepted = acceptedRequest('T-1', change);
  return verifyResult({
    accepted,
    prepared: preparedRun(accepted),
    end: { status: 'completed', report: executorReport(report), reason: '', ...end },
    current: accepted.request.subject,
    observedAt: 1,
  });
}

test("a verifier's answer about a commit may serve a gate, whether it is green or red", () => {
  for (const exit_code of [0, 1]) {
    const result = resultOf({}, { exit_code });
    expect(result).toMatchObject({ attestation: 'verifier', satisfied: exit_code === 0 });
    expect(result.gate_grade).toEqual({ eligible: true, reasons: [] });
  }
});

test("[inv-05] a producer's green result satisfies whoever asked, and its record says that no gate takes it", () => {
  const result = resultOf({ executor: 'forge' });
  expect(result).toMatchObject({ attestation: 'producer', satisfied: true, reasons: [] });
  expect(result.gate_grade).toEqual({ eligible: false, reasons: ['producer_attestation'] });
});

test('[inv-05] a green run of a live tree satisfies whoever asked, and no gate', () => {
  const result = resultOf({ executor: 'forge', cwd: 'worktree' }, { tree_after: null });
  expect(result).toMatchObject({ satisfied: true, reasons: [] });
  expect(result.gate_grade).toEqual({ eligible: false, reasons: ['producer_attestation', 'worktree'] });
});

test.each<[string, Partial<ExecutorReport>, Partial<RunEnd>, readonly GateGradeReason[]]>([
  ['a time-out', {}, { status: 'timed_out' }, ['no_answer']],
  ['a lost executor', {}, { status: 'executor_lost', report: null }, ['no_answer']],
  ['a weaker sandbox', { sandbox: { containment: 'process-group', network: 'none', limits: {} } }, {}, ['containment']],
])('[inv-07] %s serves no gate', (_, report, end, reasons) => {
  expect(resultOf({}, report, end).gate_grade).toEqual({ eligible: false, reasons });
});
