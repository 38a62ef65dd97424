/**
 * The one table of precedence (spec/gate.md section 5): which case decides when several are hit, and what each may come to.
 * Nothing in it leads to `pass`; a pass is the absence of every case.
 */
import { DOUBT_OUTCOMES, FAILURE_OUTCOMES, type GateMapping } from '../../schemas/gate/policy.ts';
import { GATE_CASES, type GateCase, type GateDecisionWord } from '../../schemas/gate/vocabulary.ts';

/** What a hit can come to. */
export type HitOutcome = Exclude<GateDecisionWord, 'pass'>;

interface CaseRow {
  /** Its number in the specification, 1 decides first. */
  readonly number: number;
  readonly title: string;
  /** Fixed, or chosen by the policy's mapping among these. */
  readonly outcomes: readonly HitOutcome[];
  readonly overridable: boolean;
}

export const PRECEDENCE: Readonly<Record<GateCase, CaseRow>> = {
  integrity: {
    number: 1,
    title: 'The evidence or the request cannot be trusted',
    outcomes: ['blocked'],
    overridable: false,
  },
  hard_failure: { number: 2, title: 'A required check failed', outcomes: FAILURE_OUTCOMES, overridable: false },
  security_failure: {
    number: 3,
    title: 'A security check, finding or verifier failed it',
    outcomes: FAILURE_OUTCOMES,
    overridable: false,
  },
  contradiction: {
    number: 4,
    title: 'Evidence contradicts itself or is unstable',
    outcomes: DOUBT_OUTCOMES,
    overridable: true,
  },
  open_blocker: {
    number: 5,
    title: 'A blocker is open or a criterion failed',
    outcomes: ['rework'],
    overridable: true,
  },
  missing: { number: 6, title: 'Required evidence is missing', outcomes: ['blocked'], overridable: false },
  inconclusive: {
    number: 7,
    title: 'Something is inconclusive, not tested or unavailable',
    outcomes: DOUBT_OUTCOMES,
    overridable: true,
  },
  definition_changed: {
    number: 8,
    title: 'The change edits what a check runs',
    outcomes: FAILURE_OUTCOMES,
    overridable: true,
  },
  human_absent: { number: 9, title: 'A person is required', outcomes: ['human_required'], overridable: false },
};

/** Within one case the strictest outcome decides. */
const STRICTNESS: Readonly<Record<HitOutcome, number>> = { rework: 1, human_required: 2, blocked: 3 };

/** A live hit: what it comes to under the policy in force. */
export interface DecidingHit {
  readonly case: GateCase;
  readonly outcome: HitOutcome;
}

/** The decision over every live hit: the first case that is hit decides, the strictest outcome within it. */
export function decideByPrecedence(hits: readonly DecidingHit[]): GateDecisionWord {
  for (const name of GATE_CASES) {
    let strictest: HitOutcome | null = null;
    for (const hit of hits) {
      if (hit.case !== name) continue;
      if (strictest === null || STRICTNESS[hit.outcome] > STRICTNESS[strictest]) strictest = hit.outcome;
    }
    if (strictest !== null) return strictest;
  }
  return 'pass';
}

/** A fixed outcome, or the policy's own under a key of its mapping. */
export type OutcomeRule = HitOutcome | { readonly mapping: keyof GateMapping };

export function outcomeUnder(rule: OutcomeRule, mapping: GateMapping): HitOutcome {
  return typeof rule === 'string' ? rule : mapping[rule.mapping];
}
