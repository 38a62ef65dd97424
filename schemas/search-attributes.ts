/**
 * The eight search attributes that make the stock Temporal UI an operator's console (DESIGN section 5). The dev server and
 * the operations guide register exactly these. Visibility lags about a second: nothing is decided from a list.
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

export const SEARCH_ATTRIBUTES = {
  tenant: defineSearchAttributeKey('Tenant', SearchAttributeType.KEYWORD),
  ticketId: defineSearchAttributeKey('TicketId', SearchAttributeType.KEYWORD),
  pairId: defineSearchAttributeKey('PairId', SearchAttributeType.KEYWORD),
  role: defineSearchAttributeKey('Role', SearchAttributeType.KEYWORD),
  phase: defineSearchAttributeKey('Phase', SearchAttributeType.KEYWORD),
  waitingOn: defineSearchAttributeKey('WaitingOn', SearchAttributeType.KEYWORD),
  subjectDigest: defineSearchAttributeKey('SubjectDigest', SearchAttributeType.KEYWORD),
  state: defineSearchAttributeKey('State', SearchAttributeType.KEYWORD),
} as const;

/** Names to register with a namespace; every one is a keyword. */
export const SEARCH_ATTRIBUTE_NAMES: readonly string[] = Object.values(SEARCH_ATTRIBUTES).map(({ name }) => name);
