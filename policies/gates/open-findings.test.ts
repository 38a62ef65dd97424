import { expect, test } from 'vitest';
import type { DecisionReason } from '../../schemas/gate/decision.ts';
import { openFindings } from './open-findings.ts';

const reason = (change: Partial<DecisionReason>): DecisionReason => ({
  ...{ case: 'open_blocker', code: 'blocker_open', ref: 'f-1', overridden: false },
  ...change,
});

test('a finding is open whatever says so, also where security decides, and once', () => {
  const reasons = [
    reason({ case: 'security_failure', code: 'security_finding_open', ref: 'f-2' }),
    reason({}),
    reason({ code: 'prior_blocker_open' }),
    reason({ code: 'resolution_unsupported', ref: 'f-3' }),
  ];
  expect(openFindings(reasons)).toEqual(['f-2', 'f-1', 'f-3']);
});

test('[inv-02] a criterion, a check or a person is no finding, whatever it is called', () => {
  const reasons = [
    reason({ code: 'criterion_failed', ref: 'f-1' }),
    reason({ case: 'hard_failure', code: 'check_failed', ref: 'f-2' }),
    reason({ code: 'human_rejected', ref: 'f-3' }),
  ];
  expect(openFindings(reasons)).toEqual([]);
});

test('what people overrode is not in the way of the next subject', () => {
  expect(openFindings([reason({ overridden: true }), reason({ ref: 'f-2' })])).toEqual(['f-2']);
});
