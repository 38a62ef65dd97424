/**
 * The gate: `(subject, evidence set, policy, definition, asOf) → decision and sorted reasons`. Pure, total, closed: no clock,
 * no I/O, no expression language (spec/gate.md section 5). Time and memory grow with the evidence and not with its square.
 *
 * @example evaluateGate(input).decision // 'pass' | 'rework' | 'human_required' | 'blocked'
 */
import { compareCodeUnits } from '../../schemas/digest.ts';
import type { DecisionReason } from '../../schemas/gate/decision.ts';
import type { HumanDecision } from '../../schemas/gate/human.ts';
import type { GateMapping } from '../../schemas/gate/policy.ts';
import type { VerificationRun } from '../../schemas/gate/run.ts';
import { headOf } from '../../schemas/gate/subject.ts';
import type { GateDecisionWord } from '../../schemas/gate/vocabulary.ts';
import { hitKey, type Hit } from './hit.ts';
import { EVALUATOR_VERSION, EVIDENCE_LIMITS, type GateInput } from './input.ts';
import { earliest, judgeChecks } from './judge-checks.ts';
import { judgeCriteria } from './judge-criteria.ts';
import { judgeFindings } from './judge-findings.ts';
import { isProducer, judgeHumans, overrideCover, type OverrideCover } from './judge-humans.ts';
import { judgeSeats } from './judge-seats.ts';
import { decideByPrecedence, outcomeUnder, PRECEDENCE } from './precedence.ts';
import { REASONS, type ReasonCode } from './reasons.ts';
import { requirementsOf, type Requirements } from './requirements.ts';
import { sortEvidence } from './sort-evidence.ts';

/** A reason with its code known to the compiler. */
export interface GateReason extends DecisionReason {
  readonly code: ReasonCode;
}

export interface Evaluation {
  readonly decision: GateDecisionWord;
  /** By case, then code, then reference. Empty on a pass that nothing was overridden for. */
  readonly reasons: readonly GateReason[];
  /** Milliseconds since the epoch; `null` when nothing it rests on ends. */
  readonly validUntil: number | null;
  /** Grants and principals that a pass rests on, sorted; empty on any other decision. */
  readonly authorities: readonly string[];
}

/** Decides. Never throws: what cannot be evaluated is `blocked`. */
export function evaluateGate(input: GateInput): Evaluation {
  try {
    return evaluate(input);
  } catch (error) {
    return blockedBy('evaluator_error', error instanceof Error ? error.name : 'unknown');
  }
}

function blockedBy(code: ReasonCode, ref: string): Evaluation {
  return { ...conclude([{ code, ref, at: 0 }], new Map(), null), validUntil: null, authorities: [] };
}

function evaluate(input: GateInput): Evaluation {
  const amount = input.evidence.items.length;
  if (amount > EVIDENCE_LIMITS.items) return blockedBy('evidence_too_much', `${amount} records`);
  const subject = input.subject.record;
  const policy = input.policy.record;
  const requirements = requirementsOf(policy, subject);
  const evidence = sortEvidence(input);
  const checks = judgeChecks(requirements.checks, subject, evidence, input.asOf);
  const criteria = judgeCriteria(requirements.criteria, requirements.verifierClasses, evidence);
  const humans = judgeHumans(input, requirements.humans, evidence.humans);
  const cover = overrideCover(policy, humans.overrides);
  const hits: Hit[] = [
    ...pinning(input, requirements),
    ...evidence.hits,
    ...checks.hits,
    ...criteria.hits,
    ...judgeFindings(subject, evidence, humans.approvedAt),
    ...humans.hits,
    ...judgeSeats(requirements, {
      runs: evidence.runs,
      judging: criteria.judging,
      approvals: humans.approvals,
      isProducer: (decision) => isProducer(decision, input),
      unavailableOverridden: cover.get('inconclusive') ?? null,
    }),
  ];
  const authorities = authoritiesOf(criteria.judging, [...humans.approvals, ...humans.overrides]);
  if (authorities.length > EVIDENCE_LIMITS.authorities) {
    hits.push({ code: 'evidence_too_much', ref: `${authorities.length} grants and principals`, at: 0 });
  }
  const concluded = conclude(hits, cover, policy.mapping);
  return {
    ...concluded,
    validUntil: earliest(checks.validUntil, humans.validUntil),
    authorities: concluded.decision === 'pass' ? authorities : [],
  };
}

/** Case 1 without looking at evidence: that subject, policy, definition and evaluator name each other. */
function pinning(input: GateInput, requirements: Requirements): readonly Hit[] {
  const { subject, policy, definition } = input;
  const hits: Hit[] = [];
  const hit = (code: ReasonCode, ref: string) => hits.push({ code, ref, at: 0 });
  if (subject.record.gatePolicy.digest !== policy.digest) hit('subject_names_other_policy', policy.digest);
  if (subject.record.gateDefinition.digest !== definition.digest) {
    hit('subject_names_other_definition', definition.digest);
  }
  if (definition.record.policy.digest !== policy.digest) hit('definition_names_other_policy', policy.digest);
  if (definition.record.evaluatorVersion !== EVALUATOR_VERSION) {
    hit('evaluator_version_other', definition.record.evaluatorVersion);
  }
  if (requirements.criteria.length === 0) hit('subject_without_required_criteria', headOf(subject.record));
  return hits;
}

/** Takes out what people overrode, decides over the rest, and lists everything. */
function conclude(
  hits: readonly Hit[],
  cover: OverrideCover,
  mapping: GateMapping | null,
): Pick<Evaluation, 'decision' | 'reasons'> {
  // A reason that several records give is overridden only when what each of them says is.
  const standing = new Set(hits.filter((hit) => !isCovered(hit, cover)).map(hitKey));
  const reasons = new Map<string, GateReason>();
  for (const hit of hits) {
    const key = hitKey(hit);
    const lifted = !standing.has(key) || (hit.about !== undefined && !standing.has(hitKey(hit.about)));
    reasons.set(key, { case: REASONS[hit.code].case, code: hit.code, ref: hit.ref, overridden: lifted });
  }
  const listed = [...reasons.values()].sort(inOrder);
  const live = listed.filter((reason) => !reason.overridden);
  return {
    decision: decideByPrecedence(
      live.map((reason) => {
        const rule = REASONS[reason.code].outcome;
        return { case: reason.case, outcome: mapping === null ? 'blocked' : outcomeUnder(rule, mapping) };
      }),
    ),
    reasons: listed,
  };
}

function isCovered(hit: Hit, cover: OverrideCover): boolean {
  const name = REASONS[hit.code].case;
  const upTo = cover.get(name);
  return upTo !== undefined && PRECEDENCE[name].overridable && hit.at <= upTo;
}

function inOrder(a: GateReason, b: GateReason): number {
  return (
    PRECEDENCE[a.case].number - PRECEDENCE[b.case].number ||
    compareCodeUnits(a.code, b.code) ||
    compareCodeUnits(a.ref, b.ref)
  );
}

function authoritiesOf(runs: readonly VerificationRun[], people: readonly HumanDecision[]): readonly string[] {
  const names = new Set<string>();
  for (const run of runs) {
    names.add(`grant:${run.grant.id}@${run.grant.revision}`);
    names.add(`principal:${run.verifier.principal.id}`);
  }
  for (const decision of people) names.add(`principal:${decision.principal.id}`);
  return [...names].sort(compareCodeUnits);
}
