/** Cases 6, 7 and 9 for who has to be there: verifier classes and people. */
import type { HumanDecision } from '../../schemas/gate/human.ts';
import type { HumanRule } from '../../schemas/gate/policy.ts';
import { rootOf } from '../../schemas/gate/references.ts';
import type { VerificationRun } from '../../schemas/gate/run.ts';
import type { Hit } from './hit.ts';
import { mayFill } from './judge-humans.ts';
import type { Requirements } from './requirements.ts';
import { emptySeats, type Seat } from './seats.ts';

type Need = { readonly verifier: string } | { readonly role: string };

/** Who may be seated, and what people already let pass. */
export interface Present {
  readonly runs: readonly VerificationRun[];
  /** Those of them that judged something. */
  readonly judging: readonly VerificationRun[];
  readonly approvals: readonly HumanDecision[];
  readonly isProducer: (decision: HumanDecision) => boolean;
  /** Unavailable runs observed up to then are overridden; `null` when none are. */
  readonly unavailableOverridden: number | null;
}

/**
 * Seats that may stay empty are filled last. Otherwise who sits where could leave a seat empty that has to be filled, and
 * taking evidence away could mend that.
 */
export function judgeSeats(requirements: Requirements, present: Present): readonly Hit[] {
  const { runs, judging, approvals, isProducer, unavailableOverridden } = present;
  const byClass = new Map<string, Set<string>>();
  for (const run of judging) add(byClass, run.verifier.class, rootOf(run.verifier.principal));
  const unavailable = new Map<string, number>();
  for (const run of runs) {
    if (run.outcome.state === 'finished') continue;
    unavailable.set(run.verifier.class, Math.max(unavailable.get(run.verifier.class) ?? 0, run.observedAt));
  }
  const mayStayEmpty = (rule: { readonly class: string }) => {
    const at = unavailable.get(rule.class);
    return at !== undefined && unavailableOverridden !== null && at <= unavailableOverridden;
  };
  const verifierSeats = (rules: Requirements['verifierClasses']): readonly Seat<Need>[] =>
    rules.flatMap((rule) =>
      repeat(rule.min, { need: { verifier: rule.class }, candidates: byClass.get(rule.class) ?? new Set<string>() }),
    );
  const classes = requirements.verifierClasses;
  const seats: Seat<Need>[] = [
    ...verifierSeats(classes.filter((rule) => !mayStayEmpty(rule))),
    ...requirements.humans.flatMap((rule) =>
      repeat(rule.min, { need: { role: rule.role }, candidates: peopleFor(rule, approvals, isProducer) }),
    ),
    ...verifierSeats(classes.filter(mayStayEmpty)),
  ];
  return emptySeats(seats).map((need) => hitOf(need, unavailable));
}

function hitOf(need: Need, unavailable: ReadonlyMap<string, number>): Hit {
  if ('role' in need) return { code: 'human_missing', ref: need.role, at: 0 };
  const at = unavailable.get(need.verifier);
  return at === undefined
    ? { code: 'verifier_missing', ref: need.verifier, at: 0 }
    : { code: 'verifier_unavailable', ref: need.verifier, at };
}

function peopleFor(
  rule: HumanRule,
  approvals: readonly HumanDecision[],
  isProducer: (decision: HumanDecision) => boolean,
): ReadonlySet<string> {
  return new Set(
    approvals.flatMap((decision) =>
      mayFill(decision, rule, isProducer(decision)) ? [rootOf(decision.principal)] : [],
    ),
  );
}

function add(sets: Map<string, Set<string>>, name: string, member: string): void {
  const set = sets.get(name);
  if (set === undefined) sets.set(name, new Set([member]));
  else set.add(member);
}

function repeat<T>(times: number, seat: Seat<T>): readonly Seat<T>[] {
  return Array.from({ length: times }, () => seat);
}
