/**
 * Whether a result can serve a gate at all. Apart from whether it satisfies whoever asked: a producer's green run may do that,
 * and no gate takes it (spec/delegated-verification.md section 1).
 */
import type { ExecutorReport } from '../../schemas/verify/report.ts';
import type { AcceptedRequest } from '../../schemas/verify/request.ts';
import type { GateGrade, GateGradeReason, VerifyResult, VerifyStatus } from '../../schemas/verify/result.ts';
import { isContained } from './satisfies.ts';

export interface GradedFacts {
  readonly request: Pick<AcceptedRequest['request'], 'executor' | 'cwd'>;
  readonly status: VerifyStatus;
  readonly report: Pick<ExecutorReport, 'sandbox'> | null;
}

/** Who attests to what an executor of this role says. */
export function attestationOf({ executor }: GradedFacts['request']): VerifyResult['attestation'] {
  return executor === 'verifier' ? 'verifier' : 'producer';
}

/** Eligible is not passed: a gate reads the record again and pins more. Not eligible is final. */
export function gateGrade({ request, status, report }: GradedFacts): GateGrade {
  const reasons: GateGradeReason[] = [];
  if (attestationOf(request) === 'producer') reasons.push('producer_attestation');
  if (request.cwd === 'worktree') reasons.push('worktree');
  if (status !== 'completed' || report === null) reasons.push('no_answer');
  else if (!isContained(report.sandbox)) reasons.push('containment');
  return { eligible: reasons.length === 0, reasons };
}
