/** The deterministic preflight: whether calling a verifier can still matter (spec/gate.md section 4). */
import type { GateCase } from '../../schemas/gate/vocabulary.ts';
import type { Hit } from './hit.ts';
import type { GateInput } from './input.ts';
import { judgeChecks } from './judge-checks.ts';
import { REASONS } from './reasons.ts';
import { requirementsOf } from './requirements.ts';
import { sortEvidence } from './sort-evidence.ts';

export interface Preflight {
  /** False when the evidence already decides: no model is called, and the hits say why. */
  readonly verifierNeeded: boolean;
  readonly hits: readonly Hit[];
}

const SETTLED: ReadonlySet<GateCase> = new Set<GateCase>(['integrity', 'hard_failure', 'security_failure']);

export function preflight(input: GateInput): Preflight {
  const evidence = sortEvidence(input);
  const rules = requirementsOf(input.policy.record, input.subject.record).checks;
  const checks = judgeChecks(rules, input.subject.record, evidence, input.asOf);
  const hits = [...evidence.hits, ...checks.hits].filter((hit) => SETTLED.has(REASONS[hit.code].case));
  return { verifierNeeded: hits.length === 0, hits };
}
