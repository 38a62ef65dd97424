/** The ticket's own activities of the control worker. */
import type { TicketActivities } from '../../schemas/ticket/activities.ts';
import { admitTicket } from './admit.ts';
import { writeAssignment } from './assignment.ts';
import { closeLandingIncident, openLandingIncident, type IncidentDependencies } from './incidents.ts';
import { recordPerson, type PersonDependencies } from './person.ts';
import { readPlan } from './plan.ts';
import { recordTransition, type TicketDependencies } from './record.ts';

/** Without `recordDocumentation`, which records evidence. */
export function ticketActivities(
  needs: TicketDependencies & PersonDependencies & { readonly incidents: IncidentDependencies },
): Omit<TicketActivities, 'recordDocumentation'> {
  const { tickets, incidents } = needs;
  const { evidence } = needs.evidence;
  return {
    recordTransition: (transition) => recordTransition(needs, transition),
    writeAssignment: (of) => writeAssignment({ evidence, write: needs.writeAssignment }, of),
    readPlan: (request) => readPlan(needs.repositoriesDir, request),
    admitTicket: (of) => admitTicket({ tickets, evidence }, of),
    recordPerson: (of) => recordPerson(needs, of),
    openLandingIncident: (of) => openLandingIncident(incidents, of),
    closeLandingIncident: (of) => closeLandingIncident(incidents, of),
  };
}
