/** How a ticket's workflow is started, whoever starts it: the gateway and trusted clients of Temporal. */
import type { WorkflowStartOptions } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { controlQueue } from '../queues.ts';
import { SEARCH_ATTRIBUTES } from '../search-attributes.ts';
import { ticketWorkflowId } from '../workflow-ids.ts';
import type { TicketInput } from './workflow.ts';

/** What the starter says; the rest of the input is the workflow's own. */
export type TicketStart = Pick<TicketInput, 'tenant' | 'definition' | 'source' | 'by'>;

/** An id that was used is never taken again: a ticket is started once. */
export function ticketStartOptions({ tenant, definition, source, by }: TicketStart): WorkflowStartOptions {
  const ticket = definition.id;
  const input: TicketInput = { tenant, definition, source, by, carried: null, historyLimit: null };
  return {
    workflowId: ticketWorkflowId({ tenant, ticket }),
    taskQueue: controlQueue(tenant),
    args: [input],
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    staticSummary: `${ticket}: ${definition.title}`.slice(0, 200),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.tenant, value: tenant },
      { key: SEARCH_ATTRIBUTES.ticketId, value: ticket },
      { key: SEARCH_ATTRIBUTES.pairId, value: ticket },
      { key: SEARCH_ATTRIBUTES.phase, value: 'planning' },
      { key: SEARCH_ATTRIBUTES.waitingOn, value: 'control' },
      { key: SEARCH_ATTRIBUTES.state, value: 'open' },
    ]),
  };
}
