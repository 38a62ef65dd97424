/** Which findings a decision leaves open: what the next subject names as its prior blockers. */
import type { DecisionReason } from '../../schemas/gate/decision.ts';
import type { ReasonCode } from './reasons.ts';

/** Reasons whose `ref` is the id of a finding; that of every other reason is a check, a criterion or a person. */
const OF_FINDINGS: ReadonlySet<string> = new Set<ReasonCode>([
  'blocker_open',
  'security_finding_open',
  'prior_blocker_open',
  'prior_blocker_not_addressed',
  'resolution_unsupported',
  'disposition_contradicted',
  'blocker_needs_human',
]);

/** Ids in the order of the reasons, each once. What people overrode is no longer in the way. */
export function openFindings(reasons: readonly DecisionReason[]): readonly string[] {
  const open = reasons.filter(({ code, overridden }) => OF_FINDINGS.has(code) && !overridden).map(({ ref }) => ref);
  return [...new Set(open)];
}
