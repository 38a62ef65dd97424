/** `evidence show` and `evidence verify`: one record by its digest, and whether it is what that digest says. */
import { PortcullisError } from '../../schemas/errors.ts';
import type { EvidenceAnswer } from '../../schemas/gate/evidence-api.ts';
import { readEvidenceRecord } from '../../schemas/gate/evidence.schema.ts';
import { evidenceDigest } from '../../schemas/gate/evidence-set.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import type { Output } from '../output.ts';
import { printable } from '../printable.ts';

const NOT_WHOLE_EXIT = 3;

/** @returns 3 for a record that is there and cannot be read. @throws `not_found`, `schema_invalid` for what is no digest */
export async function showEvidence(context: CliContext, digest: string, ticket: string | null): Promise<number> {
  const answer = await operatorClient(context).showEvidence(digest, ticket);
  const { record, problem, listed } = answer;
  context.output.result(
    'Evidence',
    { digest: answer.digest, record, problem, listed },
    recordText(answer, context.output),
  );
  return problem === null ? 0 : NOT_WHOLE_EXIT;
}

/**
 * The digest is made here, of what the gateway sent: neither it nor the store is believed about that.
 * @returns 3 when its bytes give another digest, or no index lists it
 */
export async function verifyEvidence(context: CliContext, digest: string, ticket: string | null): Promise<number> {
  const answer = await operatorClient(context).showEvidence(digest, ticket);
  const verification = verificationOf(digest, answer);
  context.output.result('EvidenceVerification', { ...verification }, verificationText(verification, context.output));
  return verification.whole ? 0 : NOT_WHOLE_EXIT;
}

export interface EvidenceVerification {
  readonly digest: string;
  /** Whether the bytes of the record give the digest that was asked for. */
  readonly intact: boolean;
  /** As of {@link EvidenceAnswer}. */
  readonly listed: boolean | null;
  /** Intact, and not known to be in no index. */
  readonly whole: boolean;
}

export function verificationOf(asked: string, { record, listed }: EvidenceAnswer): EvidenceVerification {
  const digest = asked.startsWith('sha256:') ? asked : `sha256:${asked}`;
  const intact = digestOfSent(record) === digest;
  return { digest, intact, listed, whole: intact && listed !== false };
}

function digestOfSent(record: EvidenceAnswer['record']): string | null {
  try {
    return record === null ? null : evidenceDigest(readEvidenceRecord(record));
  } catch (thrown) {
    if (thrown instanceof PortcullisError) return null;
    throw thrown;
  }
}

export function recordText({ digest, record, problem, listed }: EvidenceAnswer, output: Output): string {
  if (record === null) return `${digest}: ${output.style('bad', problem ?? 'unreadable')}`;
  return [
    `${record.schema}  ${digest}`,
    `index      ${LISTED[String(listed)] ?? ''}`,
    ...JSON.stringify(record, null, 2).split('\n').map(printable),
  ].join('\n');
}

const LISTED: Readonly<Record<string, string>> = {
  true: 'lists it',
  false: 'does not list it: it satisfies nothing',
  null: 'not looked at: name the ticket with --ticket',
};

function verificationText({ digest, intact, listed, whole }: EvidenceVerification, output: Output): string {
  return [
    `${digest}: ${whole ? output.style('good', 'whole') : output.style('bad', 'not whole')}`,
    `bytes      ${intact ? 'give this digest' : 'give another digest, or cannot be read'}`,
    `index      ${LISTED[String(listed)] ?? ''}`,
  ].join('\n');
}
