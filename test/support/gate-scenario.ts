/** One scenario of `examples/gate/`: what is in it, and what the gate has to say of it. */
import type { ReasonCode } from '../../policies/gates/reasons.ts';
import type { EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import type { GateDecisionWord, GateKind } from '../../schemas/gate/vocabulary.ts';
import { Maker, worldOf, type World, type WorldChanges } from './gate-fixtures.ts';

export interface Scenario {
  /** File name without `.json`. */
  readonly name: string;
  /** What the reader should see in it. */
  readonly note: string;
  readonly decision: GateDecisionWord;
  /** Reason codes in the order of the decision. */
  readonly codes: readonly ReasonCode[];
  readonly world: World;
  readonly evidence: readonly ScenarioEntry[];
}

/** A bare record, or what an index named and what was found under it. */
export type ScenarioEntry = EvidenceRecord | { readonly digest: string; readonly record: unknown };

export function scenario(
  [name, gate, decision, codes]: readonly [string, GateKind, GateDecisionWord, readonly ReasonCode[]],
  note: string,
  evidence: (make: Maker) => readonly ScenarioEntry[],
  changes: WorldChanges = {},
): Scenario {
  const world = worldOf(gate, changes);
  return { name, note, decision, codes, world, evidence: evidence(new Maker(world)) };
}
