/** What one subject has to show: the policy's rules, with those that its risk class adds. */
import type { CheckRule, GatePolicy, HumanRule, VerifierRule } from '../../schemas/gate/policy.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';
import { RISK_CLASSES, type RiskClass } from '../../schemas/gate/vocabulary.ts';

export interface Requirements {
  readonly checks: readonly CheckRule[];
  readonly criteria: readonly RequiredCriterion[];
  readonly verifierClasses: readonly VerifierRule[];
  readonly humans: readonly HumanRule[];
}

export interface RequiredCriterion {
  readonly criterionId: string;
  readonly methods: ReadonlySet<string>;
}

/** A rule for a class holds for every class above it too, so that leaving one out cannot weaken the gate. */
function reaches(rule: RiskClass, subject: RiskClass): boolean {
  return RISK_CLASSES.indexOf(rule) <= RISK_CLASSES.indexOf(subject);
}

/** A check that the subject requires and the policy has no rule for: it has to pass where no agent is. */
const UNRULED: Omit<CheckRule, 'checkId' | 'definitionDigestIn'> = {
  class: 'ordinary',
  attestation: 'verifier',
  minExecuted: 0,
  maxSkipped: Number.MAX_SAFE_INTEGER,
  definitionsUnchanged: false,
  maxUnanswered: 0,
};

export function requirementsOf(policy: GatePolicy, subject: SubjectManifest): Requirements {
  const more = policy.riskRules.filter((rule) => reaches(rule.class, subject.risk.class));
  const checks = [...policy.requiredChecks, ...more.flatMap((rule) => rule.requiredChecks)];
  const ruled = new Set(checks.map((rule) => rule.checkId));
  const unruled = subject.requiredChecks
    .filter((check) => !ruled.has(check.checkId))
    .map((check) => ({ ...UNRULED, checkId: check.checkId, definitionDigestIn: [check.definitionDigest] }));
  return {
    checks: [...checks, ...unruled],
    criteria: subject.criteria.items
      .filter((item) => item.required || policy.requiredCriteria === 'all')
      .map((item) => ({ criterionId: item.criterionId, methods: new Set(item.methods) })),
    verifierClasses: strictest(
      [policy.verifierClasses, ...more.map((rule) => rule.verifierClasses)].flat(),
      (rule) => rule.class,
      (a, b) => ({ class: a.class, min: Math.max(a.min, b.min) }),
    ),
    humans: strictest(
      [policy.humans, ...more.map((rule) => rule.humans)].flat(),
      (rule) => rule.role,
      (a, b) => ({ role: a.role, min: Math.max(a.min, b.min), selfReview: a.selfReview && b.selfReview }),
    ),
  };
}

/** Rules for one name joined into the strictest of them. */
function strictest<T>(rules: readonly T[], nameOf: (rule: T) => string, join: (a: T, b: T) => T): readonly T[] {
  const byName = new Map<string, T>();
  for (const rule of rules) {
    const earlier = byName.get(nameOf(rule));
    byName.set(nameOf(rule), earlier === undefined ? rule : join(earlier, rule));
  }
  return [...byName.values()];
}
