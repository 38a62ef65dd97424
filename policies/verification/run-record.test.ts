import { expect, test } from 'vitest';
import { parseDigest } from '../../schemas/digest.ts';
import type { CriterionRow } from '../../schemas/gate/run.ts';
import type { TicketCriterion } from '../../schemas/ticket/definition.ts';
import type { ReviewConclusion, ReviewEnding } from '../../schemas/verification/activities.ts';
import type { SubjectParameters } from '../../schemas/verification/workflow.ts';
import { reviewRequestOf, reviewRunOf } from './run-record.ts';
import { GENERAL_REVIEW, reviewerOf } from './reviewers.ts';

const DIGEST = `sha256:${'a'.repeat(64)}` as const;
const SUBJECT = parseDigest('subject', `sha256:${'b'.repeat(64)}`);
const CRITERIA: readonly TicketCriterion[] = [
  { id: 'judged', text: '', required: true, methods: ['model'] },
  { id: 'shown', text: '', required: true, methods: ['deterministic'] },
  { id: 'said', text: '', required: false, methods: ['human'] },
];

const parameters = {
  tenant: 'local',
  ticket: 'T-1',
  execution: { id: 'T-1-1', generation: 1 },
  definition: { criteria: CRITERIA, diffDigest: DIGEST },
} as unknown as SubjectParameters;

type Checks = ReviewConclusion['checks'];
const PASSED: Checks = [{ checkId: 'tests', status: 'passed', evidence: DIGEST }];

function rowsOf(
  ending: ReviewEnding,
  checks: Checks = PASSED,
  criteria: readonly TicketCriterion[] = CRITERIA,
): readonly CriterionRow[] | string {
  const verifier = reviewerOf('T-1');
  const rules = { id: 'review', revision: 1, digest: DIGEST };
  const request = reviewRequestOf({
    tenant: 'local',
    subjectDigest: SUBJECT,
    verifier: { principal: verifier, class: 'reviewer' },
    grantId: 'review-T-1-1',
    rules,
    wallSeconds: 60,
    priorBlockers: [],
  });
  const run = reviewRunOf(
    { request, criteria, diffDigest: DIGEST },
    {
      opening: {
        parameters: { ...parameters, definition: { ...parameters.definition, criteria } },
        subjectDigest: SUBJECT,
        n: 1,
        review: GENERAL_REVIEW,
        workspaceGeneration: 1,
        expiresAt: 2,
      },
      opened: {
        name: 'final-review.md',
        approvalId: 'a',
        grant: { id: 'review-T-1-1', revision: 1 },
        priorBlockers: [],
      },
      runId: 'run-1',
      ending,
      checks,
      at: 1,
    },
  );
  return run.outcome.state === 'finished'
    ? run.outcome.rows
    : run.outcome.state === 'unavailable'
      ? run.outcome.reason
      : run.outcome.code;
}

function verdict(route: 'proceed' | 'retry_producer' | 'human' | 'stop'): ReviewEnding {
  return {
    state: 'answered',
    reading: {
      found: true,
      digest: DIGEST,
      route,
      verdict: route === 'proceed' ? 'APPROVED' : 'REJECTED',
      failureClass: null,
      reask: null,
    },
  };
}

const statuses = (rows: ReturnType<typeof rowsOf>) =>
  typeof rows === 'string' ? rows : rows.map(({ criterionId, status, method }) => `${criterionId} ${method} ${status}`);

test('one row for each criterion: judged by the verdict, shown by the checks, said by nobody yet', () => {
  expect(statuses(rowsOf(verdict('proceed')))).toEqual([
    'judged model passed',
    'shown deterministic passed',
    'said human not_tested',
  ]);
});

test('a rejection that can be fixed fails what a model judges; one that cannot be told fails nothing', () => {
  expect(statuses(rowsOf(verdict('retry_producer')))).toContain('judged model failed');
  for (const route of ['human', 'stop'] as const) {
    expect(statuses(rowsOf(verdict(route)))).toContain('judged model inconclusive');
  }
});

test('[inv-02] an approval moves nothing that only a command can show', () => {
  const failed: Checks = [...PASSED, { checkId: 'lint', status: 'failed', evidence: DIGEST }];
  expect(statuses(rowsOf(verdict('proceed'), failed))).toContain('shown deterministic failed');
  expect(statuses(rowsOf(verdict('proceed'), []))).toContain('shown deterministic not_tested');
});

test('[inv-02] a rejection fails what commands passed where no criterion is a model’s, so that it cannot vanish', () => {
  const shown = CRITERIA.filter(({ id }) => id === 'shown');
  expect(statuses(rowsOf(verdict('retry_producer'), PASSED, shown))).toEqual(['shown deterministic failed']);
  expect(statuses(rowsOf(verdict('human'), PASSED, shown))).toEqual(['shown deterministic inconclusive']);
  expect(statuses(rowsOf(verdict('retry_producer')))).toContain('shown deterministic passed');
});

test('[inv-07] no answer and an unreadable one are unavailable, never a failed criterion', () => {
  expect(rowsOf({ state: 'unavailable', reason: 'provider_error' })).toBe('provider_error');
  const unreadable: ReviewEnding = {
    state: 'answered',
    reading: { found: true, digest: DIGEST, route: 'reask', verdict: 'UNPARSEABLE', failureClass: null, reask: 'x' },
  };
  expect(rowsOf(unreadable)).toBe('malformed_output');
});
