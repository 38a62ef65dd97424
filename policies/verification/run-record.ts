/**
 * The record of one review: exactly one row for each criterion of the ticket (spec/gate.md section 4). What only a command
 * can show rests on the checks, what a model may judge on the reviewer's verdict, and what only a person can say stays open.
 */
import { parseContentDigest, type ContentDigest } from '../../schemas/digest.ts';
import type { EvidenceRef } from '../../schemas/gate/references.ts';
import { verificationRequestDigest, type VerificationRequest } from '../../schemas/gate/request.ts';
import type { CriterionRow, RunOutcomeRecord, VerificationRun } from '../../schemas/gate/run.ts';
import type { TicketCriterion } from '../../schemas/ticket/definition.ts';
import type { ReviewConclusion, ReviewReading } from '../../schemas/verification/activities.ts';

/** What differs from one review to the next. */
export type ReviewTerms = Pick<
  VerificationRequest,
  'tenant' | 'subjectDigest' | 'verifier' | 'grantId' | 'rules' | 'priorBlockers'
> & { readonly wallSeconds: number };

/** What the reviewer is asked, as a record: the same opening gives the same digest. */
export function reviewRequestOf({ wallSeconds, ...terms }: ReviewTerms): VerificationRequest {
  return {
    schema: 'portcullis/verification-request/v1',
    ...terms,
    methods: ['deterministic', 'model'],
    // What a model may use is the provider's to bound here; the time is ours.
    budget: { tokens: 0, costMicros: 0, wallSeconds },
    modelTier: 'default',
  };
}

export interface RunFacts {
  readonly request: VerificationRequest;
  readonly criteria: readonly TicketCriterion[];
  /** What the reviewer judged, as the subject has it: rows may only cite evidence of the subject. */
  readonly diffDigest: ContentDigest;
}

export function reviewRunOf(
  { request, criteria, diffDigest }: RunFacts,
  conclusion: ReviewConclusion,
): VerificationRun {
  const { opening, opened, runId, at } = conclusion;
  const { parameters } = opening;
  return {
    schema: 'portcullis/verification-run/v1',
    tenant: parameters.tenant,
    runId,
    subjectDigest: opening.subjectDigest,
    executionId: parameters.execution.id,
    executionGeneration: parameters.execution.generation,
    requestDigest: verificationRequestDigest(request),
    verifier: request.verifier,
    runtime: null,
    grant: opened.grant,
    contextManifestDigest: null,
    outcome: outcomeOf(conclusion, criteria, diffDigest),
    observedAt: at,
  };
}

function outcomeOf(
  conclusion: ReviewConclusion,
  criteria: readonly TicketCriterion[],
  diffDigest: ContentDigest,
): RunOutcomeRecord {
  const { ending } = conclusion;
  if (ending.state === 'unavailable') return { state: 'unavailable', reason: ending.reason };
  const { reading } = ending;
  // Twice unreadable is no answer about the work.
  if (reading.verdict === 'UNPARSEABLE') return { state: 'unavailable', reason: 'malformed_output' };
  return { state: 'finished', rows: criteria.map((criterion) => rowOf(criterion, reading, conclusion, diffDigest)) };
}

type Read = Extract<ReviewReading, { readonly found: true }>;

function rowOf(
  { id, methods }: TicketCriterion,
  reading: Read,
  conclusion: ReviewConclusion,
  diffDigest: ContentDigest,
): CriterionRow {
  const judged: EvidenceRef = { id: 'diff', digest: diffDigest };
  if (methods.includes('model')) {
    const { status, reasonCode } = byVerdict(reading);
    return { criterionId: id, status, method: 'model', evidenceRefs: [judged], reasonCode };
  }
  if (methods.includes('deterministic')) {
    const row = deterministicRow(id, conclusion);
    // A rejection must not vanish because no criterion is a model's to judge: then it is these that it fails, never the reverse.
    const isHeard = conclusion.opening.parameters.definition.criteria.some((one) => one.methods.includes('model'));
    if (isHeard || reading.route === 'proceed' || row.status !== 'passed') return row;
    return { ...row, ...byVerdict(reading) };
  }
  return {
    criterionId: id,
    status: 'not_tested',
    method: 'human',
    evidenceRefs: [judged],
    reasonCode: 'needs_a_person',
  };
}

function byVerdict({ route }: Read): Pick<CriterionRow, 'status' | 'reasonCode'> {
  switch (route) {
    case 'proceed':
      return { status: 'passed', reasonCode: 'review_approved' };
    case 'retry_producer':
      return { status: 'failed', reasonCode: 'review_rejected' };
    // The reviewer could not tell: that is no failure of the work.
    case 'human':
    case 'stop':
    case 'reask':
      return { status: 'inconclusive', reasonCode: 'reviewer_could_not_tell' };
  }
}

/** Shown by commands alone: all answered and passed, or what the worst of them says. */
function deterministicRow(criterionId: string, { checks }: ReviewConclusion): CriterionRow {
  const evidenceRefs = checks.map(({ checkId, evidence }) => ({ id: checkId, digest: parseContentDigest(evidence) }));
  const worst =
    (['failed', 'inconclusive', 'not_tested'] as const).find((word) => checks.some(({ status }) => status === word)) ??
    (checks.length === 0 ? 'not_tested' : 'passed');
  return { criterionId, status: worst, method: 'deterministic', evidenceRefs, reasonCode: `checks_${worst}` };
}
