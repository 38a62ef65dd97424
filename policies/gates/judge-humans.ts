/** People: whose approval counts, who rejected, and which hits an override removes. */
import type { HumanDecision } from '../../schemas/gate/human.ts';
import type { GatePolicy, HumanRule } from '../../schemas/gate/policy.ts';
import { areRelated, rootOf } from '../../schemas/gate/references.ts';
import type { GateCase } from '../../schemas/gate/vocabulary.ts';
import type { Hit } from './hit.ts';
import type { GateInput } from './input.ts';
import { earliest } from './judge-checks.ts';

export interface JudgedHumans {
  readonly hits: readonly Hit[];
  /** Approvals in force, of this gate and policy revision, by somebody who may give one. */
  readonly approvals: readonly HumanDecision[];
  /** When the newest of them was given. */
  readonly approvedAt: number | null;
  readonly overrides: readonly HumanDecision[];
  /** When the first of them ends; `null` when none does. */
  readonly validUntil: number | null;
}

export function judgeHumans(
  input: GateInput,
  rules: readonly HumanRule[],
  decisions: readonly HumanDecision[],
): JudgedHumans {
  const gate = input.definition.record.gate;
  const here = decisions.filter((decision) => decision.gate === gate);
  const counting = here.filter(
    (decision) =>
      decision.policyRevision === input.policy.record.revision &&
      (decision.expiresAt === null || decision.expiresAt > input.asOf),
  );
  const approvals = counting.filter(
    (decision) => decision.decision === 'approve' && mayApprove(decision, input, rules),
  );
  const overrides = counting.filter((decision) => decision.decision === 'override' && !isProducer(decision, input));
  const used = [...approvals, ...overrides];
  return {
    hits: rejections(
      here,
      counting.some((decision) => decision.decision !== 'reject'),
    ),
    approvals,
    approvedAt: approvals.reduce<number | null>((newest, { observedAt }) => Math.max(newest ?? 0, observedAt), null),
    overrides,
    validUntil: used.reduce<number | null>((end, decision) => earliest(end, decision.expiresAt), null),
  };
}

/** A rejection outlives its policy revision and its expiry: bad news does not lapse. */
function rejections(here: readonly HumanDecision[], somebodyElseAgrees: boolean): readonly Hit[] {
  return here
    .filter((decision) => decision.decision === 'reject')
    .flatMap((decision) => {
      const failure: Hit = { code: 'human_rejected', ref: decision.principal.id, at: decision.observedAt };
      return somebodyElseAgrees
        ? [failure, { ...failure, code: 'humans_disagree' as const, about: failure }]
        : [failure];
    });
}

export function isProducer(decision: HumanDecision, input: GateInput): boolean {
  return areRelated(decision.principal, input.subject.record.producer.principal);
}

function mayApprove(decision: HumanDecision, input: GateInput, rules: readonly HumanRule[]): boolean {
  const own = isProducer(decision, input);
  return !own || rules.some((rule) => mayFill(decision, rule, own));
}

/** Whether an approval can take a seat of this role; the producer's own only where the rule and the decision say so. */
export function mayFill(decision: HumanDecision, rule: HumanRule, own: boolean): boolean {
  return decision.role === rule.role && (!own || (rule.selfReview && decision.selfReview));
}

/** By case: evidence observed up to when is overridden. */
export type OverrideCover = ReadonlyMap<GateCase, number>;

/**
 * For each case that enough people overrode: up to when evidence is covered. What was observed later than the policy's
 * `min`-th newest override is not what those people saw.
 */
export function overrideCover(policy: GatePolicy, overrides: readonly HumanDecision[]): OverrideCover {
  const cover = new Map<GateCase, number>();
  for (const rule of policy.overrides) {
    const newestOf = new Map<string, number>();
    for (const decision of overrides) {
      if (decision.case !== rule.case || decision.role !== rule.role) continue;
      const person = rootOf(decision.principal);
      newestOf.set(person, Math.max(newestOf.get(person) ?? 0, decision.observedAt));
    }
    const upTo = [...newestOf.values()].sort((a, b) => b - a)[rule.min - 1];
    if (upTo !== undefined) cover.set(rule.case, upTo);
  }
  return cover;
}
