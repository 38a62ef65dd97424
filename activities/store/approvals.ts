/**
 * Approvals of reviews in the store (spec/tickets.md): control mints and withdraws them, the gateway uses them up. What is
 * minted is never changed; that it counts is one pointer of the pair, so that whatever moves a ticket on kills it.
 */
import { approvalId, type ApprovalBinding, type ApprovalUse } from '../../schemas/approval.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { keysOf } from '../../schemas/keys.ts';
import { chainArgs, chainKeys, withChainStep, type MakeEntry } from './audit-chain.ts';
import type { StoreConnection } from './connect.ts';
import { approvalRecord, approvalUseRecord } from './records/harness.ts';
import { readOptional, readRecord, recordText } from './records/read.ts';
import { CONSUME_APPROVAL, MINT_APPROVAL } from './scripts/approval.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';

/** What the binding says, before it has an id. */
export type ApprovalTerms = Omit<ApprovalBinding, 'schema' | 'id'>;

/**
 * Mints the approval of these terms, with its entry in the audit chain, and makes it the one of its pair. Repeating it answers
 * the same binding, with the expiry of the first time. Needs a connection of the user `control`. @throws `store_unavailable`
 */
export async function mintApproval(
  connection: StoreConnection,
  terms: ApprovalTerms,
  audit: (binding: ApprovalBinding) => MakeEntry,
): Promise<ApprovalBinding> {
  const id = approvalId(terms);
  const keys = keysOf(terms.tenant);
  const binding: ApprovalBinding = { schema: 'portcullis/approval/v1', ...terms, id };
  let text = '';
  const { answer } = await withChainStep(connection, terms.tenant, audit(binding), async (step) => {
    const [word, kept] = await runScript(
      connection,
      MINT_APPROVAL,
      {
        approval: keys.approval(id),
        current: keys.currentApproval(terms.ticket),
        ...chainKeys(keys.auditHead, step),
      },
      { id, recordText: recordText(binding), ...chainArgs(step) },
    );
    text = kept ?? '';
    return word ?? '';
  });
  if (answer !== 'minted' && answer !== 'same') return unexpectedReply([answer]);
  return readRecord('approval', approvalRecord, text);
}

/** From now on no approval of the pair can be used. Repeating it changes nothing. User `control`. */
export async function withdrawApproval(connection: StoreConnection, tenant: string, pair: string): Promise<void> {
  await connection.run((redis) => redis.set(keysOf(tenant).currentApproval(pair), ''));
}

/** Id of the one approval of the pair that can be used now; `null` for none. */
export async function currentApproval(
  connection: StoreConnection,
  tenant: string,
  pair: string,
): Promise<string | null> {
  return (await connection.run((redis) => redis.get(keysOf(tenant).currentApproval(pair)))) || null;
}

/** The binding; `null` when it was never minted. */
export async function readApproval(
  connection: StoreConnection,
  tenant: string,
  id: string,
): Promise<ApprovalBinding | null> {
  const text = await connection.run((redis) => redis.get(keysOf(tenant).approval(id)));
  return readOptional('approval', approvalRecord, text);
}

/** Who used it up; `null` while nobody has. */
export async function readApprovalUse(
  connection: StoreConnection,
  tenant: string,
  id: string,
): Promise<ApprovalUse | null> {
  const text = await connection.run((redis) => redis.get(keysOf(tenant).approvalUsed(id)));
  return readOptional('approval use', approvalUseRecord, text);
}

/**
 * Uses the approval up, in one step and for one caller only; the caller's own repeat is answered `repeated`.
 * User `gateway`. @throws `approval_used`, `approval_expired`, `approval_unknown`
 */
export async function consumeApproval(
  connection: StoreConnection,
  binding: ApprovalBinding,
  use: ApprovalUse,
): Promise<'consumed' | 'repeated'> {
  const keys = keysOf(binding.tenant);
  const words = await runScript(
    connection,
    CONSUME_APPROVAL,
    {
      approval: keys.approval(binding.id),
      used: keys.approvalUsed(binding.id),
      current: keys.currentApproval(binding.ticket),
    },
    { id: binding.id, readText: recordText(binding), useText: recordText(use) },
  );
  switch (words[0]) {
    case 'consumed':
    case 'repeated':
      return words[0];
    case 'used':
      throw portcullisError('approval_used');
    case 'expired':
      throw portcullisError('approval_expired', { reason: 'past its time' });
    case 'superseded':
      throw portcullisError('approval_expired', { reason: 'of an earlier plan, round or head' });
    case 'moved':
      throw portcullisError('approval_unknown');
    default:
      return unexpectedReply(words);
  }
}
