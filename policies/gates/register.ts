/**
 * Registration: what a gate policy may not say (spec/gate.md section 5). A policy that gets through can still be strict or
 * mild, but it cannot be vacuous and it cannot turn anything into a pass.
 */
import type { JsonValue } from '../../schemas/canonical.ts';
import type { Digest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { gatePolicySchema } from '../../schemas/gate/policy.schema.ts';
import { gatePolicyDigest, orderedPolicy, type CheckRule, type GatePolicy } from '../../schemas/gate/policy.ts';

export const POLICY_PROBLEM_CODES = [
  'zero_rules',
  'empty_required_set',
  'unmapped_case',
  'maps_to_pass',
  'producer_satisfies',
  'unknown_key',
  'schema',
] as const;
export type PolicyProblemCode = (typeof POLICY_PROBLEM_CODES)[number];

export interface PolicyProblem {
  readonly code: PolicyProblemCode;
  /** Where, as `mapping.unstable`. */
  readonly path: string;
  readonly sentence: string;
}

export interface RegisteredPolicy {
  /** With its sets in order: what is stored. */
  readonly policy: GatePolicy;
  readonly digest: Digest<'policy'>;
}

/** @throws `gate_policy_refused` naming the first problem */
export function registerGatePolicy(value: JsonValue): RegisteredPolicy {
  const lint = lintGatePolicy(value);
  if (lint.registered !== null) return lint.registered;
  const [first] = lint.problems;
  throw portcullisError('gate_policy_refused', {
    path: first?.path ?? 'policy',
    reason: first?.sentence ?? 'is refused',
    problems: lint.problems.length,
  });
}

/** Every problem of a document; registered only when there is none. */
export function lintGatePolicy(value: JsonValue): {
  readonly problems: readonly PolicyProblem[];
  readonly registered: RegisteredPolicy | null;
} {
  const parsed = gatePolicySchema.safeParse(value);
  const problems = [...vacuousProblems(value), ...(parsed.success ? contentProblems(parsed.data) : [])];
  const explained = new Set(problems.map((problem) => problem.path));
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const problem = problemOf(issue.code, issue.path.map(String), issue.message, value);
      if (!explained.has(problem.path)) problems.push(problem);
    }
  }
  if (problems.length > 0 || !parsed.success) return { problems, registered: null };
  const policy = orderedPolicy(parsed.data);
  return { problems, registered: { policy, digest: gatePolicyDigest(policy) } };
}

/** Rules that are not there, told apart from rules that are wrong. */
function vacuousProblems(value: JsonValue): PolicyProblem[] {
  const sets = ['requiredChecks', 'verifierClasses'] as const;
  const isEmpty = (name: string) => {
    const list = memberOf(value, [name]);
    return list === undefined || (Array.isArray(list) && list.length === 0);
  };
  if ([...sets, 'humans'].every(isEmpty)) {
    const sentence = 'has no rule at all: it would pass anything';
    return [{ code: 'zero_rules', path: 'policy', sentence }, ...sets.map(emptySet)];
  }
  return sets.filter(isEmpty).map(emptySet);
}

function emptySet(path: string): PolicyProblem {
  return { code: 'empty_required_set', path, sentence: 'requires nothing: a policy needs checks and verifiers' };
}

/** What is well-formed and still wrong. */
function contentProblems(policy: GatePolicy): readonly PolicyProblem[] {
  const problems: PolicyProblem[] = [];
  for (const [index, rule] of policy.riskRules.entries()) {
    if (rule.requiredChecks.length + rule.verifierClasses.length + rule.humans.length === 0) {
      const path = `riskRules.${index}`;
      problems.push({ code: 'empty_required_set', path, sentence: 'asks for nothing more: leave it out or fill it' });
    }
  }
  return [...problems, ...producerProblems(policy)];
}

/** What a producer's own executor says can fail its work, never pass it (invariant 5). */
function producerProblems({ requiredChecks, riskRules }: GatePolicy): readonly PolicyProblem[] {
  const problemsIn = (checks: readonly CheckRule[], path: string) =>
    checks.flatMap(({ attestation }, index): PolicyProblem[] =>
      attestation === 'producer'
        ? [
            {
              code: 'producer_satisfies',
              path: `${path}.${index}.attestation`,
              sentence: 'lets a producer pass its own work; ask for verifier or control',
            },
          ]
        : [],
    );
  return [
    ...problemsIn(requiredChecks, 'requiredChecks'),
    ...riskRules.flatMap((rule, index) => problemsIn(rule.requiredChecks, `riskRules.${index}.requiredChecks`)),
  ];
}

function problemOf(issue: string, path: readonly string[], message: string, value: JsonValue): PolicyProblem {
  const where = path.join('.') || 'policy';
  const actual = memberOf(value, path);
  if (issue === 'unrecognized_keys') return { code: 'unknown_key', path: where, sentence: message };
  if (path[0] === 'mapping' && path.length === 2) {
    if (actual === undefined) return { code: 'unmapped_case', path: where, sentence: 'is not mapped' };
    if (actual === 'pass')
      return { code: 'maps_to_pass', path: where, sentence: 'maps to pass; only a clean set passes' };
  }
  if (Array.isArray(actual) && actual.length === 0)
    return { code: 'empty_required_set', path: where, sentence: message };
  return { code: 'schema', path: where, sentence: message };
}

function memberOf(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const name of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = Object.hasOwn(at, name) ? (at as Readonly<Record<string, JsonValue>>)[name] : undefined;
  }
  return at;
}
