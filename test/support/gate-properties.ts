/** What must hold of any evaluator of the gate, as searches for a counterexample over random vectors. */
import { GATE_CASES, GATE_DECISIONS } from '../../schemas/gate/vocabulary.ts';
import { isNegative } from '../../policies/gates/applicability.ts';
import type { Evaluation, GateReason } from '../../policies/gates/evaluate.ts';
import type { GateInput } from '../../policies/gates/input.ts';
import { outcomeUnder } from '../../policies/gates/precedence.ts';
import { REASONS } from '../../policies/gates/reasons.ts';
import { drawVector, pick, seeded, withItems, type Vector } from './gate-vectors.ts';

export type Evaluate = (input: GateInput) => Evaluation;

export interface Search {
  /** How many vectors were tried. */
  readonly vectors: number;
  /** How many of them the property says something about. */
  readonly telling: number;
  /** What is wrong with the first one that breaks it; `null` when none does. */
  readonly counterexample: string | null;
}

/** One try: `null` when the vector says nothing, otherwise what is wrong with it, empty when nothing is. */
type Try = (vector: Vector, evaluate: Evaluate, random: () => number) => string | null;

export const GATE_PROPERTIES = {
  'exactly one decision, and it follows from its reasons': oneDecision,
  'a pass has nothing against it and nothing missing': soundPass,
  'no non-pass becomes a pass by taking positive evidence away or adding other evidence': monotone,
  'the order of inputs is irrelevant': orderIrrelevant,
  'equal inputs give equal bytes': equalBytes,
} as const satisfies Record<string, Try>;

export type GateProperty = keyof typeof GATE_PROPERTIES;

export function search(property: GateProperty, evaluate: Evaluate, vectors: number, seed: number): Search {
  const random = seeded(seed);
  let telling = 0;
  for (let tried = 1; tried <= vectors; tried += 1) {
    const vector = drawVector(random);
    const wrong = GATE_PROPERTIES[property](vector, evaluate, random);
    if (wrong === null) continue;
    telling += 1;
    if (wrong !== '') return { vectors: tried, telling, counterexample: `seed ${seed}, vector ${tried}: ${wrong}` };
  }
  return { vectors, telling, counterexample: null };
}

/** The decision worked out again from the reasons, the long way round. */
function oneDecision({ world, items }: Vector, evaluate: Evaluate): string {
  const { decision, reasons } = evaluate(withItems(world, items));
  if (!GATE_DECISIONS.includes(decision)) return `${decision} is no decision`;
  if (reasons.some((reason) => reason.code === 'evaluator_error')) return 'the evaluator failed';
  const keys = reasons.map((reason) => sortKey(reason));
  if (keys.some((key, index) => index > 0 && key <= (keys[index - 1] ?? ''))) return 'reasons are unsorted or repeated';
  const live = reasons.filter((reason) => !reason.overridden);
  const [first] = live;
  if (first === undefined) return decision === 'pass' ? '' : `${decision} without a reason`;
  const outcomes = live
    .filter((reason) => reason.case === first.case)
    .map((reason) => outcomeUnder(REASONS[reason.code].outcome, world.input.policy.record.mapping));
  const expected = (['blocked', 'human_required', 'rework'] as const).find((word) => outcomes.includes(word));
  return decision === expected ? '' : `${decision} instead of ${expected ?? 'nothing'}`;
}

const sortKey = (reason: GateReason): string => `${GATE_CASES.indexOf(reason.case)} ${reason.code} ${reason.ref}`;

/** Without overrides, a pass with anything negative in it, or without a passed check, run or person that policy asks for. */
function soundPass({ world, items }: Vector, evaluate: Evaluate): string | null {
  const plain = items.filter(
    ({ record }) => record?.schema !== 'portcullis/human-decision/v1' || record.decision !== 'override',
  );
  if (evaluate(withItems(world, plain)).decision !== 'pass') return null;
  const negative = plain.find((item) => isNegative(item) && !isLeftToAPerson(item));
  if (negative !== undefined) return `passes with ${describe(negative.record)}`;
  const records = plain.map((item) => item.record);
  const { policy, subject } = world.input;
  const lacking = [
    ...subject.record.requiredChecks.filter(
      ({ checkId }) =>
        !records.some(
          (record) =>
            record?.schema === 'portcullis/check-result/v1' &&
            record.checkId === checkId &&
            record.status === 'passed' &&
            record.attestation !== 'producer',
        ),
    ),
    ...policy.record.verifierClasses.filter(
      (rule) =>
        records.filter(
          (record) => record?.schema === 'portcullis/verification-run/v1' && record.verifier.class === rule.class,
        ).length < rule.min,
    ),
    ...policy.record.humans.filter(
      (rule) =>
        records.filter((record) => record?.schema === 'portcullis/human-decision/v1' && record.role === rule.role)
          .length < rule.min,
    ),
  ];
  return lacking.length === 0 ? '' : `passes without ${JSON.stringify(lacking)}`;
}

/** Negative until a person approves, and then answered. */
function isLeftToAPerson({ record }: Vector['items'][number]): boolean {
  return record?.schema === 'portcullis/disposition/v1' && record.disposition === 'human_required';
}

function describe(record: Vector['items'][number]['record']): string {
  return record === null ? 'an unreadable record' : record.schema;
}

/**
 * With an override in it, what is added was observed after every person decided: an override, and an answer to what a verifier
 * left to a person, speak of what their author could see.
 */
function monotone({ world, items }: Vector, evaluate: Evaluate, random: () => number): string | null {
  const before = evaluate(withItems(world, items)).decision;
  if (before === 'pass') return null;
  const drop = random() * 0.4;
  const kept = items.filter((item) => !isPositive(world, item) || random() >= drop);
  const overridden = items.some(
    ({ record }) => record?.schema === 'portcullis/human-decision/v1' && record.decision === 'override',
  );
  const others = overridden ? world.late : [...world.early.filter((item) => !isLeftToAPerson(item)), ...world.late];
  const added = Array.from({ length: Math.floor(random() * 3) }, () => pick(others, random));
  const after = evaluate(withItems(world, [...kept, ...added])).decision;
  if (after !== 'pass') return '';
  const gone = items.filter((item) => !kept.includes(item)).map((item) => describe(item.record));
  return `${before} becomes pass without [${gone.join(', ')}] and with [${added.map((item) => describe(item.record)).join(', ')}]`;
}

function isPositive(world: Vector['world'], item: Vector['items'][number]): boolean {
  return world.positive.includes(item) || world.people.includes(item);
}

function orderIrrelevant({ world, items }: Vector, evaluate: Evaluate, random: () => number): string {
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const [a, b] = [shuffled[last], shuffled[other]];
    if (a === undefined || b === undefined) continue;
    shuffled[last] = b;
    shuffled[other] = a;
  }
  const [first, second] = [items, shuffled].map((order) => JSON.stringify(evaluate(withItems(world, order))));
  return first === second ? '' : `${first ?? ''} and in another order ${second ?? ''}`;
}

/** The second evaluation is given copies: nothing may hang on which object it is, or on what came before. */
function equalBytes({ world, items }: Vector, evaluate: Evaluate): string {
  const first = JSON.stringify(evaluate(withItems(world, items)));
  const second = JSON.stringify(evaluate(withItems(world, items.map(copyOf))));
  return first === second ? '' : `${first} and again ${second}`;
}

const copies = new WeakMap<object, Vector['items'][number]>();

function copyOf(item: Vector['items'][number]): Vector['items'][number] {
  let copy = copies.get(item);
  if (copy === undefined) {
    copy = structuredClone(item);
    copies.set(item, copy);
  }
  return copy;
}
