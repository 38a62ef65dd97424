/** What a reviewer is asked, and what becomes of its answer. */
import { reviewNameOf, reviewerOf, reviewsOf, rulesOf } from '../../policies/verification/reviewers.ts';
import { reviewRequestOf, reviewRunOf } from '../../policies/verification/run-record.ts';
import { requirementsOf } from '../../policies/gates/requirements.ts';
import { readReviewText } from '../../policies/verdicts/report.ts';
import { reaskText, routeOf } from '../../policies/verdicts/route.ts';
import { canonicalBytes } from '../../schemas/canonical.ts';
import { contentDigest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';
import type { Assignment, OpenBlocker } from '../../schemas/harness-api.ts';
import type {
  CheckPlanRequest,
  ConcludedReview,
  OpenedReview,
  PlannedReview,
  ReviewConclusion,
  ReviewOpening,
  ReviewReading,
  ReviewRequest,
} from '../../schemas/verification/activities.ts';
import { EMPTY_REPORT, type ReviewReport } from '../../schemas/verification/report.ts';
import type { TicketGate } from '../../schemas/ticket/phase.ts';
import { openBlockersOf } from '../evidence/open-findings.ts';
import { appendReview } from '../git/reviews.ts';
import { repositoryPath } from '../git/repository.ts';
import { mintApproval, withdrawApproval, type ApprovalTerms } from '../store/approvals.ts';
import { readReview as readReviewBytes, readReviews, writeAssignment } from '../store/harness.ts';
import type { VerificationDependencies } from './dependencies.ts';
import { recordReport } from './report.ts';
import { endEarlier, enterStart, enterUse, mintedEntry } from './review-audit.ts';

/** What of a verification's dependencies a review needs. */
export type ReviewNeeds = Pick<
  VerificationDependencies,
  'repositoriesDir' | 'evidenceStore' | 'evidence' | 'connection' | 'actionKey'
>;

const PHASE_OF_GATE = {
  plan: 'plan_review',
  segment: 'segment_review',
  merge: 'review_ready',
} as const satisfies Record<TicketGate, string>;

/** @throws `not_found`, `limit` */
export async function planReviews(
  needs: ReviewNeeds,
  { tenant, subjectDigest }: CheckPlanRequest,
): Promise<readonly PlannedReview[]> {
  const subject = await subjectOf(needs, tenant, subjectDigest);
  const policy = await needs.evidenceStore.readPolicy(tenant, subject.gatePolicy.digest);
  if (policy === null) throw portcullisError('not_found', { what: 'gate policy', id: subject.gatePolicy.digest });
  return reviewsOf(requirementsOf(policy, subject).verifierClasses);
}

export async function openReview(needs: ReviewNeeds, opening: ReviewOpening): Promise<OpenedReview> {
  const { parameters, subjectDigest, review, n, workspaceGeneration, expiresAt } = opening;
  const { tenant, ticket, change } = parameters;
  const name = reviewNameOf(parameters, review);
  const { priorBlockers } = await subjectOf(needs, tenant, subjectDigest);
  const terms: ApprovalTerms = {
    tenant,
    ticket,
    execution: parameters.execution,
    phase: PHASE_OF_GATE[parameters.gate],
    planRevision: parameters.plan.revision,
    evaluation: n,
    round: parameters.round,
    head: change.head,
    workspaceGeneration,
    review: name,
    expiresAt,
  };
  await endEarlier(needs, terms);
  const approval = await mintApproval(needs.connection, terms, (binding) => mintedEntry(needs, binding));
  const grant = { id: `review-${ticket}-${n}`, revision: workspaceGeneration };
  await needs.evidence.recordGrant({
    tenant,
    grant: {
      schema: 'portcullis/grant/v1',
      tenant,
      ...grant,
      principal: reviewerOf(ticket, review),
      resources: [{ id: `repository:${ticket}`, version: change.head, mode: 'read' }],
      appendTo: name,
      expiresAt,
      generation: parameters.execution.generation,
      revokedAt: null,
    },
  });
  await enterStart(needs, opening, { grant, approvalId: approval.id });
  const blockers = await openBlockersOf(needs.evidenceStore, tenant, priorBlockers);
  await writeAssignment(needs.connection, tenant, assignmentOf(opening, { name, approvalId: approval.id, blockers }));
  return { name, approvalId: approval.id, grant, priorBlockers };
}

export async function readReview(
  { connection }: ReviewNeeds,
  { tenant, ticket, workspaceGeneration, name }: ReviewRequest,
): Promise<ReviewReading> {
  const seat = { tenant, pair: ticket, workspaceGeneration };
  const entry = (await readReviews(connection, seat)).findLast((one) => one.name === name);
  if (entry === undefined) return { found: false };
  const bytes = await readReviewBytes(connection, seat, entry.digest);
  if (bytes === null) return { found: false };
  const { reading } = readReviewText(bytes);
  return {
    found: true,
    digest: entry.digest,
    route: routeOf(reading),
    verdict: reading.verdict,
    failureClass: reading.verdict === 'REJECTED' ? reading.failureClass : null,
    reask: reading.verdict === 'UNPARSEABLE' ? reaskText(reading) : null,
  };
}

export async function concludeReview(needs: ReviewNeeds, conclusion: ReviewConclusion): Promise<ConcludedReview> {
  const { opening, opened, ending } = conclusion;
  const { parameters, subjectDigest, review, workspaceGeneration, n } = opening;
  const { tenant, ticket, definition } = parameters;
  const verifier = { principal: reviewerOf(ticket, review), class: review.verifierClass };
  // Whoever comes with the token from now on comes too late.
  await withdrawApproval(needs.connection, tenant, ticket);
  await enterUse(needs, { tenant, ticket, approvalId: opened.approvalId });
  const refs: string[] = [];
  let report: ReviewReport = EMPTY_REPORT;
  if (ending.state === 'answered') {
    const seat = { tenant, pair: ticket, workspaceGeneration };
    const bytes = await readReviewBytes(needs.connection, seat, ending.reading.digest);
    if (bytes === null) throw portcullisError('not_found', { what: 'review', id: ending.reading.digest });
    const { commit } = await appendReview(repositoryPath(needs.repositoriesDir, tenant, ticket), {
      pair: ticket,
      name: `evaluation-${n}/generation-${workspaceGeneration}/${opened.name}`,
      bytes,
      at: conclusion.at,
      by: verifier.principal.id,
    });
    ({ report } = readReviewText(bytes));
    refs.push(ending.reading.digest, commit);
  }
  const { text, ...rules } = rulesOf(review);
  const subject = await subjectOf(needs, tenant, subjectDigest);
  const request = reviewRequestOf({
    tenant,
    subjectDigest,
    verifier,
    grantId: opened.grant.id,
    rules: { ...rules, digest: contentDigest(canonicalBytes({ ...rules, text })) },
    wallSeconds: Math.max(1, Math.ceil((opening.expiresAt - conclusion.at) / 1000)),
    priorBlockers: subject.priorBlockers.map(({ findingId }) => findingId),
  });
  const diffDigest = subject.change?.diffDigest;
  if (diffDigest === undefined)
    throw portcullisError('not_found', { what: 'change of the subject', id: subjectDigest });
  const run = reviewRunOf({ request, criteria: definition.criteria, diffDigest }, conclusion);
  const recorded = await needs.evidence.recordRun({ tenant, run });
  refs.push(recorded.digest);
  // What a run found is nothing without the run, and a run that is history found nothing that counts.
  if (recorded.kind === 'stale') return { refs, blocking: [], stale: true };
  if (run.outcome.state !== 'finished') return { refs, blocking: [], stale: false };
  const reported = await recordReport(needs, { conclusion, subject, report });
  return { refs: [...refs, ...reported.refs], blocking: reported.blocking, stale: false };
}

async function subjectOf(
  { evidenceStore }: ReviewNeeds,
  tenant: string,
  subjectDigest: CheckPlanRequest['subjectDigest'],
): Promise<SubjectManifest> {
  const subject = await evidenceStore.readSubject(tenant, subjectDigest);
  if (subject === null) throw portcullisError('not_found', { what: 'subject', id: subjectDigest });
  return subject;
}

interface Asked {
  readonly name: string;
  readonly approvalId: string;
  readonly blockers: readonly OpenBlocker[];
}

function assignmentOf(
  { parameters, review, n, workspaceGeneration }: ReviewOpening,
  { name, approvalId, blockers }: Asked,
): Assignment {
  const { ticket, execution, change, plan, segment, definition } = parameters;
  return {
    schema: 'portcullis/assignment/v1',
    pair: ticket,
    role: 'sentinel',
    workspaceGeneration,
    execution,
    phase: PHASE_OF_GATE[parameters.gate],
    revision: parameters.stateRevision,
    round: parameters.round,
    title: definition.title,
    goal: definition.body,
    branch: `portcullis/${ticket}`,
    baseBranch: definition.baseBranch,
    base: change.base,
    head: change.head,
    plan: { revision: plan.revision, commit: plan.commit },
    segment,
    segmentBase: segment === null ? null : change.base,
    feedback: null,
    review: name,
    approvalId,
    evaluation: n,
    verifierClass: review.verifierClass,
    blockers,
  };
}
