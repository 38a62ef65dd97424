import { expect, test } from 'vitest';
import { shippedPolicy } from '../../test/support/gate-fixtures.ts';
import type { JsonValue } from '../../schemas/canonical.ts';
import { gatePolicyDigest } from '../../schemas/gate/policy.ts';
import { lintGatePolicy, registerGatePolicy } from './register.ts';

type Json = { [name: string]: JsonValue };
/** The shipped merge policy as a document somebody edits. */
const document = (): Json => JSON.parse(JSON.stringify(shippedPolicy('merge'))) as Json;
const edited = (edit: (policy: Json) => unknown): JsonValue => {
  const policy = document();
  edit(policy);
  return policy;
};
const mappingOf = (policy: Json): Json => policy['mapping'] as Json;
const firstCheck = (policy: Json): Json => (policy['requiredChecks'] as Json[])[0]!;

test('a sound document is registered under the digest of its ordered form', () => {
  const { policy, digest } = registerGatePolicy(document());
  expect(digest).toBe(gatePolicyDigest(policy));
  const reversed = edited((of) => (of['requiredChecks'] = (of['requiredChecks'] as JsonValue[]).toReversed()));
  expect(registerGatePolicy(reversed).digest).toBe(digest);
});

const MAPPING_KEYS = Object.keys(shippedPolicy('merge').mapping);

test.each(MAPPING_KEYS)('[inv-02] refuses to map %s to pass', (key) => {
  const { problems } = lintGatePolicy(edited((of) => (mappingOf(of)[key] = 'pass')));
  expect(problems).toMatchObject([{ code: 'maps_to_pass', path: `mapping.${key}` }]);
});

test.each(MAPPING_KEYS)('refuses a policy that leaves %s unmapped', (key) => {
  const { problems } = lintGatePolicy(edited((of) => Reflect.deleteProperty(mappingOf(of), key)));
  expect(problems).toMatchObject([{ code: 'unmapped_case', path: `mapping.${key}` }]);
});

test.each<[string, (policy: Json) => unknown, string]>([
  ['an unknown key', (of) => (of['trusted'] = true), 'unknown_key policy'],
  ['an unknown key in a check', (of) => (firstCheck(of)['optional'] = true), 'unknown_key requiredChecks.0'],
  ['an unknown mapping key', (of) => (mappingOf(of)['clean'] = 'pass'), 'unknown_key mapping'],
  ['no required check', (of) => (of['requiredChecks'] = []), 'empty_required_set requiredChecks'],
  ['no verifier class', (of) => (of['verifierClasses'] = []), 'empty_required_set verifierClasses'],
  ['a check that accepts no definition', (of) => (firstCheck(of)['definitionDigestIn'] = []), 'empty_required_set'],
  ['no verifier of a class', (of) => (of['verifierClasses'] = [{ class: 'reviewer', min: 0 }]), 'schema'],
  [
    'a risk rule that adds nothing',
    (of) => (of['riskRules'] = [{ class: 'high', requiredChecks: [], verifierClasses: [], humans: [] }]),
    'empty_required_set riskRules.0',
  ],
  ['inconclusive mapped to rework', (of) => (mappingOf(of)['inconclusive'] = 'rework'), 'schema mapping.inconclusive'],
  ['carry-over', (of) => (of['reuse'] = 'same_digest'), 'schema reuse'],
  ['criteria nobody has to meet', (of) => (of['requiredCriteria'] = 'none'), 'schema requiredCriteria'],
  ...(['integrity', 'hard_failure', 'security_failure', 'missing', 'human_absent'] as const).map(
    (name): [string, (policy: Json) => unknown, string] => [
      `an override of ${name}`,
      (of) => (of['overrides'] = [{ case: name, role: 'operator', min: 1 }]),
      'schema overrides.0.case',
    ],
  ),
  [
    'a check that its producer may pass',
    (of) => (firstCheck(of)['attestation'] = 'producer'),
    'producer_satisfies requiredChecks.0.attestation',
  ],
  [
    'such a check from a risk class upwards',
    (of) =>
      (of['riskRules'] = [
        {
          class: 'high',
          requiredChecks: [{ ...firstCheck(of), attestation: 'producer' }],
          verifierClasses: [],
          humans: [],
        },
      ]),
    'producer_satisfies riskRules.0.requiredChecks.0.attestation',
  ],
  ['a check named twice', (of) => (of['requiredChecks'] = [firstCheck(of), firstCheck(of)]), 'schema requiredChecks'],
])('[inv-02] refuses %s', (_, edit, problem) => {
  const lint = lintGatePolicy(edited(edit));
  expect(lint.registered).toBeNull();
  expect(lint.problems.map(({ code, path }) => `${code} ${path}`).join('; ')).toContain(problem);
});

test('[inv-02] refuses a policy with no rule at all, and says so', () => {
  const empty = edited((of) => {
    of['requiredChecks'] = [];
    of['verifierClasses'] = [];
    of['humans'] = [];
  });
  expect(lintGatePolicy(empty).problems.map((problem) => problem.code)).toContain('zero_rules');
  expect(() => registerGatePolicy(empty)).toThrow('has no rule at all');
});

test.each<[string, JsonValue]>([
  ['null', null],
  ['a list', []],
  ['text', 'allow'],
  ['nothing', {}],
])('[inv-19] refuses %s with a named error', (_, value) => {
  expect(() => registerGatePolicy(value)).toThrow(expect.objectContaining({ code: 'gate_policy_refused' }) as Error);
});
