import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { checkDefinitionSchema } from '../../schemas/gate/evidence.schema.ts';
import { checkDefinitionDigest } from '../../schemas/gate/check.ts';
import { readGateDefinition } from '../../schemas/gate/policy.schema.ts';
import { GATE_KINDS } from '../../schemas/gate/vocabulary.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { EVALUATOR_VERSION } from './input.ts';
import { registerGatePolicy } from './register.ts';

const documents = fileURLToPath(new URL('./documents/', import.meta.url));
const read = (file: string) => readStrictJson(readFileSync(`${documents}${file}`));
const checks = readdirSync(`${documents}checks`).map((file) => ({
  file,
  definition: checkDefinitionSchema.parse(read(`checks/${file}`)),
}));
const byDigest = new Map(checks.map(({ file, definition }) => [checkDefinitionDigest(definition), file]));

describe.each(GATE_KINDS)('the shipped gate %s', (gate) => {
  const { policy, digest } = registerGatePolicy(read(`${gate}.json`));
  const rules = [...policy.requiredChecks, ...policy.riskRules.flatMap((rule) => rule.requiredChecks)];

  test('accepts only check definitions that are shipped beside it', () => {
    const unknown = rules.flatMap((rule) => rule.definitionDigestIn.filter((of) => !byDigest.has(of)));
    expect(unknown, 'an edited file in documents/checks has another digest').toEqual([]);
  });

  test('has a definition that pins this revision of the policy and this evaluator', () => {
    const definition = readGateDefinition(read(`gates/${gate}.json`));
    expect(definition).toMatchObject({
      gate,
      policy: { id: policy.id, revision: policy.revision, digest },
      evaluatorVersion: EVALUATOR_VERSION,
    });
  });

  test('[inv-05] is satisfied by no check that the producer’s own executor attests', () => {
    expect(rules.filter((rule) => rule.attestation === 'producer')).toEqual([]);
  });

  test('asks of a check that runs tests that at least one ran', () => {
    const runsTests = rules.filter((rule) => rule.checkId === 'tests');
    expect(runsTests.every((rule) => rule.minExecuted >= 1)).toBe(true);
  });
});

test('every shipped check definition is used by a shipped policy', () => {
  const used = new Set(
    GATE_KINDS.flatMap((gate) =>
      registerGatePolicy(read(`${gate}.json`)).policy.requiredChecks.flatMap((rule) => rule.definitionDigestIn),
    ),
  );
  expect([...byDigest].filter(([digest]) => !used.has(digest)).map(([, file]) => file)).toEqual([]);
});
