/** What the hostile cases of the gate share: a segment gate, a pass of it, and what is current for that pass. */
import { expect } from 'vitest';
import type { EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import { findingDigest } from '../../schemas/gate/finding.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';
import { AS_OF, inputOf, Maker, MINUTE, ref, worldOf, type World } from './gate-fixtures.ts';
import type { ApplicabilityFacts } from '../../policies/gates/applicability.ts';
import { decideGate } from '../../policies/gates/decide.ts';
import { evaluateGate } from '../../policies/gates/evaluate.ts';
import type { GateInput } from '../../policies/gates/input.ts';

export const segment = (subject: Partial<SubjectManifest> = {}) => worldOf('segment', { subject });
export const judge = (world: World, records: readonly EvidenceRecord[]) => evaluateGate(inputOf(world, records));
export const codes = (world: World, records: readonly EvidenceRecord[]) => {
  const { decision, reasons } = judge(world, records);
  return [decision, ...new Set(reasons.map((reason) => reason.code))];
};
export const clean = (world: World) => new Maker(world).clean();
export const utf8 = (text: string) => new TextEncoder().encode(text);

/** What is current when nothing moved since the decision. */
export function nothingMoved(input: GateInput): ApplicabilityFacts {
  const subject = input.subject.record;
  return {
    heads: {
      subjectDigest: input.subject.digest,
      executionId: subject.executionId,
      executionGeneration: subject.executionGeneration,
      policyDigest: input.policy.digest,
      definitionDigest: input.definition.digest,
    },
    revoked: new Set(),
    indexes: [],
    later: [],
    disagreement: false,
    intact: true,
    now: AS_OF + MINUTE,
  };
}

/** A pass, and what has to be current for it. */
export function passed(world = segment()) {
  const input = inputOf(world, clean(world));
  const { decision } = decideGate(input, []);
  expect(decision.decision).toBe('pass');
  return { input, decision, facts: nothingMoved(input) };
}

export const other = (head: string): Partial<SubjectManifest> => ({
  change: { baseDigest: 'a'.repeat(40), headDigest: head.repeat(40), diffDigest: ref(head).digest },
});

/** A world whose subject came back with a blocker, and that blocker. */
export function withPrior() {
  const earlier = new Maker(segment({ stateRevision: 11 })).finding({ findingId: 'prior' });
  const world = segment({ priorBlockers: [{ findingId: 'prior', digest: findingDigest(earlier) }] });
  return { earlier, world, make: new Maker(world) };
}
