/** `closeIncident`: an operator's ruling on a landing whose ticket has ended; while it has not, the ticket itself records it. */
import { ruleOn } from './incidents.ts';
import type { CloseIncidentInput } from '../../schemas/ticket/workflow.ts';

export async function closeIncident({ tenant, incident, ruling }: CloseIncidentInput): Promise<void> {
  await ruleOn(tenant, incident, ruling);
}
