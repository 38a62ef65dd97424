import { describe, expect, test } from 'vitest';
import { checkDefinitionDigest, type CheckDefinition } from '../../schemas/gate/check.ts';
import type { GateRequirements } from '../../schemas/gate/activities.ts';
import { areRelated } from '../../schemas/gate/references.ts';
import { readSubject } from '../../schemas/gate/subject.schema.ts';
import { subjectDigest } from '../../schemas/gate/subject.ts';
import { parseDigest } from '../../schemas/digest.ts';
import type { SubjectParameters } from '../../schemas/verification/workflow.ts';
import { reviewerOf } from './reviewers.ts';
import { producerOf, subjectOf, type ReviewedSubjectFacts } from './subject.ts';

const hex = (digit: string) => digit.repeat(64);
const NPM_TEST: CheckDefinition = {
  schema: 'portcullis/check-definition/v1',
  kind: 'command',
  template: 'npm-test',
  argv: ['npm', 'test'],
  cwd: 'repo',
  expectExitCode: 0,
  timeoutSecs: 600,
  artifacts: [],
};
const BOUND: CheckDefinition = {
  schema: 'portcullis/check-definition/v1',
  kind: 'builtin',
  name: 'candidate-bound',
  version: 1,
};
const accepts = (definition: CheckDefinition) => [{ digest: checkDefinitionDigest(definition), definition }];

const REQUIREMENTS: GateRequirements = {
  policy: { id: 'merge', revision: 1, digest: parseDigest('policy', `sha256:${hex('a')}`) },
  definition: { id: 'merge', revision: 1, digest: parseDigest('gate-definition', `sha256:${hex('b')}`) },
  checks: [
    { checkId: 'tests', attestation: 'verifier', accepts: accepts(NPM_TEST) },
    { checkId: 'candidate-bound', attestation: 'control', accepts: accepts(BOUND) },
  ],
  verifierClasses: [{ class: 'reviewer', min: 1 }],
  humans: [],
};
const FACTS: ReviewedSubjectFacts = {
  requirements: REQUIREMENTS,
  diffDigest: `sha256:${hex('c')}`,
  workforceRevision: `sha256:${hex('d')}`,
  planSize: 120,
  priorBlockers: [],
};
const PARAMETERS: SubjectParameters = {
  tenant: 'local',
  ticket: 'T-048',
  gate: 'merge',
  execution: { id: 'T-048-1', generation: 1 },
  stateRevision: 9,
  round: 1,
  plan: { revision: 1, digest: `sha256:${hex('e')}`, commit: '1'.repeat(40) },
  segment: null,
  change: { base: '2'.repeat(40), head: '3'.repeat(40) },
  branchHead: '4'.repeat(40),
  producer: { run: 'workspace/local/T-048/forge/1' },
  definition: {
    schema: 'portcullis/ticket/v1',
    id: 'T-048',
    title: 'Add words',
    body: 'Say it in words.',
    issueUrl: null,
    repository: { path: '.' },
    baseBranch: 'main',
    segmentsHint: 2,
    checks: [{ check: 'npm-test', argv: ['npm', 'test'], timeoutSeconds: 120 }],
    criteria: [{ id: 'in-words', text: 'It is said in words.', required: true, methods: ['model'] }],
    risk: 'low',
    ttlSeconds: {},
    documentation: true,
  },
  priorBlockers: [],
};

const digestOf = (change: Partial<SubjectParameters>, facts: Partial<ReviewedSubjectFacts> = {}) =>
  subjectDigest(subjectOf({ ...PARAMETERS, ...change }, { ...FACTS, ...facts }));

describe('the subject of a ticket', () => {
  test('follows its schema and names the command that the ticket runs', () => {
    const subject = subjectOf(PARAMETERS, FACTS);
    expect(readSubject(subject)).toEqual(subject);
    expect(subject.requiredChecks.map(({ checkId, definitionDigest }) => [checkId, definitionDigest])).toEqual([
      ['tests', checkDefinitionDigest(NPM_TEST)],
      ['candidate-bound', checkDefinitionDigest(BOUND)],
    ]);
  });

  test('[inv-03] is another one for another head, base, plan, execution, criterion, policy or registry', () => {
    const digests = [
      digestOf({}),
      digestOf({ change: { ...PARAMETERS.change, head: '5'.repeat(40) } }),
      digestOf({ change: { ...PARAMETERS.change, base: '5'.repeat(40) } }),
      digestOf({ plan: { ...PARAMETERS.plan, digest: `sha256:${hex('f')}` } }),
      digestOf({ plan: { ...PARAMETERS.plan, revision: 2 } }),
      digestOf({ execution: { id: 'T-048-2', generation: 2 } }),
      digestOf({ definition: { ...PARAMETERS.definition, title: 'Add other words' } }),
      digestOf({ definition: { ...PARAMETERS.definition, risk: 'high' } }),
      digestOf({
        definition: {
          ...PARAMETERS.definition,
          criteria: [{ id: 'in-words', text: 'Another text.', required: true, methods: ['model'] }],
        },
      }),
      digestOf({}, { diffDigest: `sha256:${hex('9')}` }),
      digestOf({}, { workforceRevision: `sha256:${hex('9')}` }),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  test('is refused when the ticket runs none of the commands that a required check accepts', () => {
    const definition = { ...PARAMETERS.definition, checks: [{ check: 'true', argv: ['true'], timeoutSeconds: 1 }] };
    expect(() => subjectOf({ ...PARAMETERS, definition }, FACTS)).toThrow(/true: no required check/);
  });

  test('[inv-02] of a merge is refused when a check that the ticket lists is run by no required check', () => {
    const checks = [...PARAMETERS.definition.checks, { check: 'more', argv: ['cargo', 'test'], timeoutSeconds: 1 }];
    const definition = { ...PARAMETERS.definition, checks };
    expect(() => subjectOf({ ...PARAMETERS, definition }, FACTS)).toThrow(/cargo test: no required check/);
  });

  test('[inv-01] producer and reviewer of a ticket are unrelated principals', () => {
    expect(areRelated(producerOf('T-048'), reviewerOf('T-048'))).toBe(false);
  });
});
