/** What a reviewer is asked, and what becomes of its answer. */
import { reviewRequestOf, reviewRunOf } from '../../policies/verification/run-record.ts';
import { reviewerOf } from '../../policies/verification/subject.ts';
import { parseVerdictBytes } from '../../policies/verdicts/parse.ts';
import { reaskText, routeOf } from '../../policies/verdicts/route.ts';
import { canonicalBytes } from '../../schemas/canonical.ts';
import { contentDigest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { segmentReviewName, type Assignment } from '../../schemas/harness-api.ts';
import type {
  ConcludedReview,
  OpenedReview,
  ReviewConclusion,
  ReviewOpening,
  ReviewReading,
  ReviewRequest,
} from '../../schemas/verification/activities.ts';
import type { SubjectParameters } from '../../schemas/verification/workflow.ts';
import type { TicketGate } from '../../schemas/ticket/phase.ts';
import { appendReview } from '../git/reviews.ts';
import { repositoryPath } from '../git/repository.ts';
import { mintApproval, withdrawApproval } from '../store/approvals.ts';
import { readReview as readReviewBytes, readReviews, writeAssignment } from '../store/harness.ts';
import type { VerificationDependencies } from './dependencies.ts';

const PHASE_OF_GATE = {
  plan: 'plan_review',
  segment: 'segment_review',
  merge: 'review_ready',
} as const satisfies Record<TicketGate, string>;

/** What the reviewer is told to judge by; the digest pins the words. */
const RULES = { id: 'review', revision: 1, text: 'judge what the ticket asks for and what the change causes' } as const;

export async function openReview(needs: VerificationDependencies, opening: ReviewOpening): Promise<OpenedReview> {
  const { parameters, n, workspaceGeneration, expiresAt } = opening;
  const { tenant, ticket, change } = parameters;
  const name = reviewNameOf(parameters);
  const approval = await mintApproval(needs.connection, {
    tenant,
    ticket,
    execution: parameters.execution,
    phase: PHASE_OF_GATE[parameters.gate],
    planRevision: parameters.plan.revision,
    evaluation: n,
    round: parameters.round,
    head: change.head,
    workspaceGeneration,
    expiresAt,
  });
  const grant = { id: `review-${ticket}-${n}`, revision: workspaceGeneration };
  await needs.evidence.recordGrant({
    tenant,
    grant: {
      schema: 'portcullis/grant/v1',
      tenant,
      ...grant,
      principal: reviewerOf(ticket),
      resources: [{ id: `repository:${ticket}`, version: change.head, mode: 'read' }],
      appendTo: name,
      expiresAt,
      generation: parameters.execution.generation,
      revokedAt: null,
    },
  });
  await writeAssignment(needs.connection, tenant, assignmentOf(opening, name, approval.id));
  return { name, approvalId: approval.id, grant };
}

export async function readReview(
  { connection }: VerificationDependencies,
  { tenant, ticket, workspaceGeneration, name }: ReviewRequest,
): Promise<ReviewReading> {
  const seat = { tenant, pair: ticket, workspaceGeneration };
  const entry = (await readReviews(connection, seat)).findLast((one) => one.name === name);
  if (entry === undefined) return { found: false };
  const bytes = await readReviewBytes(connection, seat, entry.digest);
  if (bytes === null) return { found: false };
  const reading = parseVerdictBytes(bytes);
  return {
    found: true,
    digest: entry.digest,
    route: routeOf(reading),
    verdict: reading.verdict,
    failureClass: reading.verdict === 'REJECTED' ? reading.failureClass : null,
    reask: reading.verdict === 'UNPARSEABLE' ? reaskText(reading) : null,
  };
}

export async function concludeReview(
  needs: VerificationDependencies,
  conclusion: ReviewConclusion,
): Promise<ConcludedReview> {
  const { opening, opened, ending } = conclusion;
  const { parameters, workspaceGeneration, n } = opening;
  const { tenant, ticket, definition } = parameters;
  // Whoever comes with the token from now on comes too late.
  await withdrawApproval(needs.connection, tenant, ticket);
  const refs: string[] = [];
  if (ending.state === 'answered') {
    const seat = { tenant, pair: ticket, workspaceGeneration };
    const bytes = await readReviewBytes(needs.connection, seat, ending.reading.digest);
    if (bytes === null) throw portcullisError('not_found', { what: 'review', id: ending.reading.digest });
    const { commit } = await appendReview(repositoryPath(needs.repositoriesDir, tenant, ticket), {
      tenant,
      pair: ticket,
      name: `evaluation-${n}/generation-${workspaceGeneration}/${opened.name}`,
      text: new TextDecoder().decode(bytes),
      at: conclusion.at,
      by: reviewerOf(ticket).id,
    });
    refs.push(ending.reading.digest, commit);
  }
  const verifier = reviewerOf(ticket);
  const rules = { id: RULES.id, revision: RULES.revision, digest: contentDigest(canonicalBytes(RULES)) };
  const wallSeconds = Math.max(1, Math.ceil((opening.expiresAt - conclusion.at) / 1000));
  const request = reviewRequestOf(tenant, opening.subjectDigest, verifier, opened.grant.id, rules, wallSeconds);
  const subject = await needs.evidenceStore.readSubject(tenant, opening.subjectDigest);
  const diffDigest = subject?.change?.diffDigest;
  if (diffDigest === undefined) throw portcullisError('not_found', { what: 'subject', id: opening.subjectDigest });
  const run = reviewRunOf({ verifier, request, criteria: definition.criteria, diffDigest }, conclusion);
  const recorded = await needs.evidence.recordRun({ tenant, run });
  return { refs: [...refs, recorded.digest], stale: recorded.kind === 'stale' };
}

function reviewNameOf({ gate, segment }: SubjectParameters): string {
  switch (gate) {
    case 'plan':
      return 'CONTRACT.md';
    case 'segment':
      return segmentReviewName(segment?.n ?? 0);
    case 'merge':
      return 'final-review.md';
  }
}

function assignmentOf(
  { parameters, n, workspaceGeneration }: ReviewOpening,
  review: string,
  approvalId: string,
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
    review,
    approvalId,
    evaluation: n,
  };
}
