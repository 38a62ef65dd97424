/** What the audit chain has of a review beside its records: who was asked, which approval was made, and who used it for what. */
import { approvalId, type ApprovalBinding } from '../../schemas/approval.ts';
import type { ApprovalRef, OpenedReview, ReviewOpening } from '../../schemas/verification/activities.ts';
import { auditWriter } from '../audit/write.ts';
import { currentApproval, readApprovalUse, withdrawApproval, type ApprovalTerms } from '../store/approvals.ts';
import { appendAuditOnce, type MakeEntry } from '../store/audit-chain.ts';
import type { VerificationDependencies } from './dependencies.ts';

type Needs = Pick<VerificationDependencies, 'connection' | 'actionKey'>;

/** The entry of an approval, which is written with it. */
export function mintedEntry({ actionKey }: Pick<Needs, 'actionKey'>, binding: ApprovalBinding): MakeEntry {
  const { tenant, id, ticket, execution, phase, planRevision, evaluation, round, head, review } = binding;
  return auditWriter(tenant, actionKey, 'token_minted', {
    approval: id,
    ticket,
    execution: execution.id,
    generation: String(execution.generation),
    phase,
    planRevision: String(planRevision),
    evaluation: String(evaluation),
    round: String(round),
    head,
    review,
    workspaceGeneration: String(binding.workspaceGeneration),
  });
}

/** Once for each session of a reviewer, however often its opening is repeated. @throws `record_unreadable` */
export async function enterStart(
  { connection, actionKey }: Needs,
  { parameters, subjectDigest, review, n, workspaceGeneration }: ReviewOpening,
  { grant, approvalId }: Pick<OpenedReview, 'grant' | 'approvalId'>,
): Promise<void> {
  const { tenant, ticket } = parameters;
  const refs = {
    subject: subjectDigest,
    ticket,
    evaluation: String(n),
    verifierClass: review.verifierClass,
    workspaceGeneration: String(workspaceGeneration),
    grant: `${grant.id}@${grant.revision}`,
    approval: approvalId,
  };
  await appendAuditOnce(connection, tenant, auditWriter(tenant, actionKey, 'run_started', refs));
}

/**
 * That an approval was used up, if it was. Only after it was withdrawn is this the last word: until then its holder may still come.
 * The gateway, which uses it up, holds no key of the chain. @throws `record_unreadable`
 */
export async function enterUse({ connection, actionKey }: Needs, of: ApprovalRef): Promise<void> {
  const { tenant, ticket, approvalId } = of;
  const use = await readApprovalUse(connection, tenant, approvalId);
  if (use === null) return;
  const { by, verdict, reviewDigest } = use;
  const refs = { approval: approvalId, ticket, by, verdict, review: reviewDigest };
  await appendAuditOnce(connection, tenant, auditWriter(tenant, actionKey, 'token_consumed', refs));
}

/**
 * Withdraws the approval of a session before, whose review was never concluded, and enters what became of it: from the next one
 * on nothing leads to it any more. @throws `record_unreadable`
 */
export async function endEarlier(needs: Needs, terms: ApprovalTerms): Promise<void> {
  const { tenant, ticket } = terms;
  const earlier = await currentApproval(needs.connection, tenant, ticket);
  if (earlier !== null && earlier !== approvalId(terms))
    await endApproval(needs, { tenant, ticket, approvalId: earlier });
}

/** Nobody uses it from now on, and whether somebody did is entered. Another one of the pair stays. @throws `record_unreadable` */
export async function endApproval(needs: Needs, of: ApprovalRef): Promise<void> {
  const current = await currentApproval(needs.connection, of.tenant, of.ticket);
  if (current === of.approvalId) await withdrawApproval(needs.connection, of.tenant, of.ticket);
  await enterUse(needs, of);
}
