/** `gate decide`: a person's decision on what a gate judges, on the revision and the subject that are there now. */
import type { GatewayClient } from '../../client/gateway-client.ts';
import { parseDigest, type Digest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { GateKind, HumanAnswer, OverridableCase } from '../../schemas/gate/vocabulary.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';

export interface GateDecideOptions {
  readonly decision: HumanAnswer;
  readonly case: OverridableCase | null;
  readonly reason: string;
  readonly expires: string | null;
}

/** @throws `usage`, `not_found`, `ticket_stale`, `ticket_mismatch`, `override_refused`, `not_allowed` */
export async function decideGate(context: CliContext, id: string, options: GateDecideOptions): Promise<number> {
  const { decision, case: of, reason, expires } = options;
  if ((of !== null) !== (decision === 'override')) {
    throw portcullisError('usage', { reason: '--case goes with --decision override and with nothing else' });
  }
  const expiresAt = expires === null ? null : expiryOf(expires, Date.now());
  const client = operatorClient(context);
  const { ticket, gate, subjectDigest, revision } = await judgedAt(client, id);
  const { phase } = await client.decideGate(ticket, {
    gate,
    subjectDigest,
    decision,
    case: of,
    reason,
    expiresAt,
    revision,
  });
  const decided = { ticket, gate, subjectDigest, decision, case: of, expiresAt, revision, phase };
  const next = `portcullis ticket decide ${ticket} --decision retry --reason …`;
  const text = `${ticket}: ${decision} at the ${gate} gate is on record; it counts in the next evaluation: ${next}`;
  context.output.result('GateDecided', decided, text);
  return 0;
}

interface Judged {
  readonly ticket: string;
  readonly gate: GateKind;
  readonly subjectDigest: Digest<'subject'>;
  readonly revision: number;
}

/** By a ticket: what it stands at now. By a decision or a subject: exactly that, whether or not the ticket has moved on. */
async function judgedAt(client: GatewayClient, id: string): Promise<Judged> {
  if (!/^(?:sha256:)?[0-9a-f]{64}$/.test(id)) {
    const { revision, review } = (await client.getTicket(id)).ticket.state;
    if (review?.subjectDigest == null)
      throw portcullisError('not_found', { what: 'subject at a gate of the ticket', id });
    const { gate } = review;
    return { ticket: id, gate, subjectDigest: parseDigest('subject', review.subjectDigest), revision };
  }
  const { ticket, decision } = await client.showGate(id);
  if (ticket === null) throw portcullisError('not_found', { what: 'ticket of the decision', id });
  const { gate, subjectDigest } = decision.decision;
  return { ticket, gate, subjectDigest, revision: (await client.getTicket(ticket)).ticket.state.revision };
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds since the epoch. @throws `usage` */
export function expiryOf(text: string, now: number): number {
  const [, amount, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
  const factor = UNITS[unit ?? ''];
  const at = factor === undefined ? timeOf(text) : now + Number(amount) * factor;
  if (Number.isSafeInteger(at) && at > now) return at;
  throw portcullisError('usage', { reason: '--expires is a time to come: 90m, 12h, 7d or 2026-12-31T12:00:00Z' });
}

/** Only with its zone: a time that two machines read differently is none. */
function timeOf(text: string): number {
  return /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
}
