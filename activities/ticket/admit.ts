/** Whether a ticket may begin to work, and whether the gates know what it asks to be checked. */
import { unknownCheck, type UnknownCheck } from '../../policies/tickets/checks.ts';
import type { TicketAdmission, TicketStore } from '../../schemas/ticket/activities.ts';
import type { TicketDefinition } from '../../schemas/ticket/definition.ts';
import { GATE_OF_REVIEW } from '../../schemas/ticket/phase.ts';
import { gateRequirements } from '../evidence/policies.ts';
import type { GateReader } from '../store/gate-port.ts';

export interface AdmissionDependencies {
  readonly tickets: Pick<TicketStore, 'markOpen'>;
  readonly evidence: Parameters<typeof gateRequirements>[0]['evidence'] & Pick<GateReader, 'readKillSwitch'>;
}

/** First listed, then looked: the other way round a switch that is turned on in between would miss it. @throws `store_unavailable` */
export async function admitTicket(
  { tickets, evidence }: AdmissionDependencies,
  {
    tenant,
    ticket,
    checks,
  }: { readonly tenant: string; readonly ticket: string; readonly checks: TicketDefinition['checks'] },
): Promise<TicketAdmission> {
  await tickets.markOpen(tenant, ticket);
  const [stopped, unknown] = await Promise.all([
    evidence.readKillSwitch(tenant),
    findUnknownCheck({ evidence }, tenant, checks),
  ]);
  return {
    stopped: stopped === null ? null : { reason: stopped.reason, by: stopped.by },
    unknownCheck: unknown,
  };
}

/** Against the policies that are registered now. @throws `not_found` when a gate has none */
export async function findUnknownCheck(
  needs: Parameters<typeof gateRequirements>[0],
  tenant: string,
  checks: TicketDefinition['checks'],
): Promise<UnknownCheck | null> {
  const gates = await Promise.all(
    Object.values(GATE_OF_REVIEW).map((gate) => gateRequirements(needs, { tenant, gate })),
  );
  const accepted = gates.flatMap((gate) => gate.checks.flatMap(({ accepts }) => accepts));
  return unknownCheck(
    checks,
    accepted.map(({ definition }) => definition),
  );
}
