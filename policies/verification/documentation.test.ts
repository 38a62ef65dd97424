import { describe, expect, test } from 'vitest';
import { parseDigest } from '../../schemas/digest.ts';
import { checkDefinitionDigest, type CheckDefinition } from '../../schemas/gate/check.ts';
import type { GateRequirements } from '../../schemas/gate/activities.ts';
import { readEvidenceRecord } from '../../schemas/gate/evidence.schema.ts';
import { readWith } from '../../schemas/gate/fields.schema.ts';
import { areRelated } from '../../schemas/gate/references.ts';
import { grantSchema } from '../../schemas/gate/request.schema.ts';
import { readSubject } from '../../schemas/gate/subject.schema.ts';
import { subjectDigest } from '../../schemas/gate/subject.ts';
import type { DocumentationSubject } from '../../schemas/ticket/activities.ts';
import { DOCUMENTATION_VERIFIER, documentationGrant, documentationRun } from './documentation-run.ts';
import { documentationSubjectOf, documenterOf, OPERATION_RESULT } from './documentation.ts';
import { reviewerOf } from './reviewers.ts';
import { producerOf, type SubjectFacts } from './subject.ts';

const hex = (digit: string) => digit.repeat(64);
const builtin = (name: string): CheckDefinition => ({
  schema: 'portcullis/check-definition/v1',
  ...{ kind: 'builtin', name, version: 1 },
});
const check = (checkId: string, definition: CheckDefinition): GateRequirements['checks'][number] => ({
  checkId,
  attestation: 'control',
  accepts: [{ digest: checkDefinitionDigest(definition), definition }],
});
const RESULT = check('operation-result', builtin(OPERATION_RESULT));

const FACTS: SubjectFacts = {
  requirements: {
    policy: { id: 'operation', revision: 1, digest: parseDigest('policy', `sha256:${hex('a')}`) },
    definition: { id: 'operation', revision: 1, digest: parseDigest('gate-definition', `sha256:${hex('b')}`) },
    checks: [RESULT],
    verifierClasses: [{ class: 'deterministic', min: 1 }],
    humans: [],
  },
  diffDigest: `sha256:${hex('c')}`,
  workforceRevision: `sha256:${hex('d')}`,
  planSize: 120,
};
const OF: DocumentationSubject = {
  tenant: 'local',
  ticket: 'T-048',
  execution: { id: 'T-048-1', generation: 1 },
  stateRevision: 19,
  n: 2,
  plan: { revision: 1, digest: `sha256:${hex('e')}`, commit: '1'.repeat(40) },
  change: { base: '2'.repeat(40), head: '3'.repeat(40) },
  producer: { run: 'workspace/local/T-048/lore/1' },
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
    risk: 'critical',
    ttlSeconds: {},
    documentation: true,
  },
};

const subject = documentationSubjectOf(OF, FACTS);
const withChecks = (...checks: GateRequirements['checks']): SubjectFacts => ({
  ...FACTS,
  requirements: { ...FACTS.requirements, checks },
});

describe('the subject of a documentation', () => {
  test('follows its schema and rests on one criterion that needs no judgement', () => {
    expect(readSubject(subject)).toEqual(subject);
    expect(subject.criteria.items.map(({ required, methods }) => ({ required, methods }))).toEqual([
      { required: true, methods: ['deterministic'] },
    ]);
    expect(subject).toMatchObject({ operation: { id: 'documentation' }, risk: { class: 'low' } });
  });

  test('[inv-03] is another one for another head, base, change, plan, execution or registry', () => {
    const digests = [
      subject,
      documentationSubjectOf({ ...OF, change: { ...OF.change, head: '5'.repeat(40) } }, FACTS),
      documentationSubjectOf({ ...OF, change: { ...OF.change, base: '5'.repeat(40) } }, FACTS),
      documentationSubjectOf({ ...OF, plan: { ...OF.plan, digest: `sha256:${hex('f')}` } }, FACTS),
      documentationSubjectOf({ ...OF, execution: { id: 'T-048-2', generation: 2 } }, FACTS),
      documentationSubjectOf({ ...OF, definition: { ...OF.definition, title: 'Other' } }, FACTS),
      documentationSubjectOf(OF, { ...FACTS, diffDigest: `sha256:${hex('9')}` }),
      documentationSubjectOf(OF, { ...FACTS, workforceRevision: `sha256:${hex('9')}` }),
    ].map(subjectDigest);
    expect(new Set(digests).size).toBe(digests.length);
  });

  test.each([
    ['no check', withChecks(), /requires no check/],
    ['a check beside it', withChecks(RESULT, check('tests', builtin('tests'))), /requires tests/],
  ])('is refused when the policy requires %s', (_, facts, message) => {
    expect(() => documentationSubjectOf(OF, facts)).toThrow(message);
  });
});

describe('the run that shows it', () => {
  const answer = {
    subjectDigest: subjectDigest(subject),
    status: 'failed',
    evidenceRefs: [{ id: 'operation-result', digest: FACTS.diffDigest }],
    observedAt: 1_000,
  } as const;
  const grant = documentationGrant(OF, answer);

  test('says what the check says, under a grant of its own that reads that commit alone', () => {
    const run = documentationRun(OF, answer, grant);
    expect(readEvidenceRecord(run)).toEqual(run);
    expect(readWith(grantSchema, grant, 'grant')).toEqual(grant);
    expect(run).toMatchObject({
      verifier: { principal: grant.principal, class: 'deterministic' },
      grant: { id: grant.id, revision: grant.revision },
      outcome: { state: 'finished', rows: [{ status: 'failed', method: 'deterministic' }] },
    });
    expect(grant.resources).toEqual([{ id: 'repository:T-048', version: OF.change.head, mode: 'read' }]);
    expect(grant.expiresAt).toBeGreaterThan(run.observedAt);
  });

  test('[inv-01] nobody of the ticket is related to whoever shows it', () => {
    const everybody = [documenterOf('T-048'), producerOf('T-048'), reviewerOf('T-048')];
    expect(everybody.filter((one) => areRelated(one, DOCUMENTATION_VERIFIER))).toEqual([]);
    expect(areRelated(documenterOf('T-048'), producerOf('T-048'))).toBe(false);
  });
});
