import { afterAll, describe, expect, test } from 'vitest';
import { MUTANTS, MutantNursery } from '../../test/support/gate-mutants.ts';
import { GATE_PROPERTIES, search, type GateProperty } from '../../test/support/gate-properties.ts';
import { evaluateGate } from './evaluate.ts';

/** spec/gate.md section 9. */
const VECTORS = 100_000;
const SEED = 20_261_130;
const properties = Object.keys(GATE_PROPERTIES) as GateProperty[];

describe('[inv-02] properties of the gate over random vectors', () => {
  test.each(properties)('%s', { timeout: 180_000 }, (property) => {
    const found = search(property, evaluateGate, VECTORS, SEED);
    console.log(`${property}: ${found.vectors} vectors, ${found.telling} of them telling`);
    expect(found.counterexample).toBeNull();
    expect(found.vectors).toBe(VECTORS);
    expect(found.telling, 'vectors that the property says something about').toBeGreaterThan(VECTORS / 20);
  });
});

describe('each property catches the planted mutants of the evaluator', () => {
  const nursery = new MutantNursery();
  afterAll(() => nursery.remove());

  test.each(MUTANTS)('$name', { timeout: 180_000 }, async (mutant) => {
    const found = search(mutant.caughtBy, await nursery.breed(mutant), VECTORS, SEED);
    expect(found.counterexample, `"${mutant.caughtBy}" does not notice this mutant`).not.toBeNull();
    console.log(`caught after ${found.vectors} vectors: ${mutant.name}`);
  });

  test('every property has a mutant', () => {
    expect(new Set(MUTANTS.map((mutant) => mutant.caughtBy))).toEqual(new Set(properties));
  });
});
