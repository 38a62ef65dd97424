/** Incidents of a ticket's landings: opened by the control plane, ruled on by whoever decides on the ticket. */
import { proxyActivities } from '@temporalio/workflow';
import type { IncidentRuled, LandingIncident, TicketActivities } from '../../schemas/ticket/activities.ts';
import { RECORDING } from './options.ts';
import type { Session } from './session.ts';

const { openLandingIncident, closeLandingIncident } = proxyActivities<TicketActivities>(RECORDING);

/** @returns the incident's id */
export async function openIncident(
  { state: { tenant, ticketId: ticket }, workflowId: run }: Session,
  what: Pick<LandingIncident, 'candidate' | 'cause'>,
): Promise<string> {
  return await openLandingIncident({ tenant, ticket, run, ...what, at: Date.now() });
}

export async function ruleOn(tenant: string, incident: string, ruling: IncidentRuled['ruling']): Promise<void> {
  await closeLandingIncident({ tenant, incident, ruling, at: Date.now() });
}

/**
 * A landing that is given up without an answer, since nothing will read it back: on record with the operator who gave it up, and
 * open for one where nobody did.
 */
export async function recordGivenUp(
  session: Session,
  candidate: string,
  ruling: IncidentRuled['ruling'] | null,
): Promise<void> {
  const incident = await openIncident(session, { candidate, cause: 'unanswered' });
  if (ruling !== null) await ruleOn(session.state.tenant, incident, ruling);
}
