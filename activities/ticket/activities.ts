/** The ticket's own activities of the control worker. */
import type { TicketActivities } from '../../schemas/ticket/activities.ts';
import { readPlan } from './plan.ts';
import { recordTransition, type TicketDependencies } from './record.ts';

/** Without `recordDocumentation`, which records evidence. */
export function ticketActivities(needs: TicketDependencies): Omit<TicketActivities, 'recordDocumentation'> {
  return {
    recordTransition: (transition) => recordTransition(needs, transition),
    writeAssignment: ({ tenant, assignment }) => needs.writeAssignment(tenant, assignment),
    readPlan: (request) => readPlan(needs.repositoriesDir, request),
  };
}
