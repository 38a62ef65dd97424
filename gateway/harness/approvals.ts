/**
 * A reviewer's answer (spec/tickets.md, Approval token). Everything is looked at before anything is used up: the token, the
 * binding, and that the appended review says the same. Then one script decides who was first.
 */
import { consumeApproval, readApproval } from '../../activities/store/approvals.ts';
import { readReview, readReviews } from '../../activities/store/harness.ts';
import { readReviewText } from '../../policies/verdicts/report.ts';
import type { ApprovalBinding, ApprovalVerdict } from '../../schemas/approval.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { ApprovalAnswer, ApprovalAsk } from '../../schemas/harness-api.ts';
import type { Principal } from '../authority/authenticate.ts';
import type { HarnessContextParts, Seated } from './seat.ts';
import { updateTicket } from '../ticket-updates.ts';
import { isApprovalToken } from './token.ts';

/**
 * @throws `approval_unknown` (no such approval, another's, or a wrong token: not told apart), `approval_used`,
 *   `approval_expired`, `review_unfit`, and what the ticket refuses with
 */
export async function answerReview(
  parts: HarnessContextParts,
  { agent, assignment }: Seated,
  verdict: ApprovalVerdict,
  ask: ApprovalAsk,
): Promise<ApprovalAnswer> {
  const { ctx, connection } = parts;
  const binding = await boundApproval(parts, agent, ask);
  // The approval of one file says nothing of another.
  if (binding.review !== assignment.review) throw portcullisError('approval_unknown');
  await requireSameVerdict(parts, agent, verdict, { ...ask, review: binding.review });
  const outcome = await consumeApproval(connection, binding, {
    schema: 'portcullis/approval-use/v1',
    id: binding.id,
    by: agent.id,
    verdict,
    reviewDigest: ask.reviewDigest,
  });
  // Also after a repeat: the first time may have died between the store and here.
  await updateTicket(ctx, { tenant: agent.tenant, ticket: agent.pair }, verdict === 'APPROVED' ? 'approve' : 'reject', {
    n: binding.evaluation,
    approvalId: binding.id,
    reviewDigest: ask.reviewDigest,
    revision: assignment.revision,
    by: agent.id,
  });
  ctx.logger.info(
    { credential: agent.id, ticket: agent.pair, approval: binding.id, verdict, outcome },
    'a review is in',
  );
  return { schema: 'portcullis/approval-answered/v1', approvalId: binding.id, verdict, outcome };
}

/** Whether this approval is this workspace's. */
export function isBoundTo(binding: ApprovalBinding, agent: Principal): boolean {
  return (
    agent.role === 'sentinel' &&
    binding.tenant === agent.tenant &&
    binding.ticket === agent.pair &&
    binding.execution.id === agent.execution &&
    binding.workspaceGeneration === agent.workspaceGeneration
  );
}

async function boundApproval(
  { ctx, connection }: HarnessContextParts,
  agent: Principal,
  { approvalId, token }: ApprovalAsk,
): Promise<ApprovalBinding> {
  if (!isApprovalToken(ctx.keys.approvalKey, agent.tenant, approvalId, token))
    throw portcullisError('approval_unknown');
  const binding = await readApproval(connection, agent.tenant, approvalId);
  if (binding === null || !isBoundTo(binding, agent)) throw portcullisError('approval_unknown');
  return binding;
}

async function requireSameVerdict(
  { connection }: HarnessContextParts,
  agent: Principal,
  verdict: ApprovalVerdict,
  { reviewDigest, review }: ApprovalAsk & { readonly review: string },
): Promise<void> {
  const [bytes, entries] = await Promise.all([
    readReview(connection, agent, reviewDigest),
    readReviews(connection, agent),
  ]);
  const unfit = (reason: string) => portcullisError('review_unfit', { verdict, reason });
  if (bytes === null || !entries.some(({ name, digest }) => name === review && digest === reviewDigest)) {
    throw unfit(`no ${review} with that digest was appended by this workspace`);
  }
  const { reading } = readReviewText(bytes);
  if (reading.verdict === 'UNPARSEABLE') throw unfit(reading.detail);
  if (reading.verdict !== verdict) throw unfit(`it says ${reading.verdict}`);
}
